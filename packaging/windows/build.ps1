# The installer for Windows, in dist\: packaging\windows\build.ps1. Needs Python 3.12 and Inno Setup 6 (ISCC on the path).
# Signed where HEADSTART_SIGN_COMMAND is set: a command with $f for the file, as ISCC's /S has it.
$ErrorActionPreference = "Stop"
Set-Location (Join-Path $PSScriptRoot "..\..")
python packaging\build_packages.py
if ($LASTEXITCODE) { exit $LASTEXITCODE }
$version = python -c "import tomllib; print(tomllib.load(open('pyproject.toml', 'rb'))['project']['version'])"
$work = Resolve-Path "build\package"
New-Item -ItemType Directory -Force dist | Out-Null
$options = @("/Qp", "/DAppVersion=$version", "/DPayload=$work\frozen\headstart", "/DModel=$work\model",
             "/DIcon=$work\icons\headstart.ico", "/DOutDir=$(Resolve-Path dist)")
if ($env:HEADSTART_SIGN_COMMAND) {
    foreach ($name in "headstart.exe", "headstart-console.exe") {
        Invoke-Expression $env:HEADSTART_SIGN_COMMAND.Replace('$f', "`"$work\frozen\headstart\$name`"")
        if ($LASTEXITCODE) { exit $LASTEXITCODE }
    }
    $options += "/DSign=1", "/Sheadstart=$env:HEADSTART_SIGN_COMMAND"
}
ISCC @options packaging\windows\headstart.iss
exit $LASTEXITCODE
