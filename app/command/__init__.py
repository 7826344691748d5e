"""What the command line needs beside the window."""
