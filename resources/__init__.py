"""Files that come with the program: icons, the style sheet and the demo's script."""
