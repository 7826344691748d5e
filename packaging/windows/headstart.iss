; The installer for Windows: ISCC /DAppVersion=0.1.0 /DPayload=build\package\frozen\headstart /DModel=build\package\model
;   /DIcon=build\package\icons\headstart.ico /DOutDir=dist headstart.iss
; Signed where /DSign=1 and a sign tool of the name "headstart" are given: ISCC "/Sheadstart=signtool sign ... $f".

#ifndef AppVersion
  #error Say which version: /DAppVersion=0.1.0
#endif
#define Id "org.headstart.Headstart"

[Setup]
; Never change AppId: by it an update finds what is installed.
AppId={{3C1D6C7E-6D0B-4B1E-9C61-6C1B0E2F5A47}
AppName=Headstart
AppVersion={#AppVersion}
AppPublisher=The Headstart authors
VersionInfoVersion={#AppVersion}.0
DefaultDirName={autopf}\Headstart
DisableProgramGroupPage=yes
; For this user, without a password; whoever wants it for all users can choose so.
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog commandline
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
OutputDir={#OutDir}
OutputBaseFilename=Headstart-{#AppVersion}-x64-setup
SetupIconFile={#Icon}
UninstallDisplayIcon={app}\headstart.exe
UninstallDisplayName=Headstart
LicenseFile={#SourcePath}\..\..\LICENSE
Compression=lzma2/max
SolidCompression=yes
LZMAUseSeparateProcess=yes
WizardStyle=modern
CloseApplications=yes
RestartApplications=no
ChangesAssociations=yes
#ifdef Sign
SignTool=headstart
SignedUninstaller=yes
#endif

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"

[Types]
Name: "full"; Description: "With the small model it starts with"
Name: "program"; Description: "The program alone: for those who have a model, and for updates"

[Components]
Name: "program"; Description: "Headstart"; Types: full program; Flags: fixed
Name: "model"; Description: "SmolLM2-135M-Instruct (98 MB): the first start needs no network"; Types: full

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked
Name: "gguf"; Description: "Offer Headstart under ""Open with"" for .gguf models"

[InstallDelete]
; What an older version had and this one has not. Models and conversations lie elsewhere.
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Payload}\*"; DestDir: "{app}"; Components: program; Flags: recursesubdirs ignoreversion
Source: "{#Model}\*.gguf"; DestDir: "{app}\models"; Components: model; Flags: ignoreversion nocompression

[Icons]
Name: "{autoprograms}\Headstart"; Filename: "{app}\headstart.exe"; AppUserModelID: "{#Id}"
Name: "{autodesktop}\Headstart"; Filename: "{app}\headstart.exe"; AppUserModelID: "{#Id}"; Tasks: desktopicon

[Registry]
; Only among the programs of "Open with": what .gguf files belong to is not changed.
Root: HKA; Subkey: "Software\Classes\.gguf\OpenWithProgids"; ValueType: none; ValueName: "Headstart.gguf"; Flags: uninsdeletevalue; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\Headstart.gguf"; ValueType: string; ValueData: "GGUF language model"; Flags: uninsdeletekey; Tasks: gguf
Root: HKA; Subkey: "Software\Classes\Headstart.gguf\shell\open\command"; ValueType: string; ValueData: """{app}\headstart.exe"" ""%1"""; Tasks: gguf
; Exported conversations are ours.
Root: HKA; Subkey: "Software\Classes\.headstart"; ValueType: string; ValueData: "Headstart.conversations"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\Headstart.conversations"; ValueType: string; ValueData: "Headstart conversations"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\Headstart.conversations\shell\open\command"; ValueType: string; ValueData: """{app}\headstart.exe"" ""%1"""

[Run]
Filename: "{app}\headstart.exe"; Description: "{cm:LaunchProgram,Headstart}"; Flags: postinstall nowait skipifsilent

[UninstallDelete]
Type: filesandordirs; Name: "{app}\_internal"

[Code]
{ Conversations, settings and models stay, unless the user wants them gone. A silent uninstall (an update) never asks. }
procedure CurUninstallStepChanged(Step: TUninstallStep);
var
  Data: String;
begin
  Data := ExpandConstant('{localappdata}\headstart');
  if (Step = usPostUninstall) and not UninstallSilent and DirExists(Data) then
    if MsgBox('Also delete your conversations, settings and models in ' + Data + '?', mbConfirmation, MB_YESNO or MB_DEFBUTTON2) = IDYES then
      DelTree(Data, True, True, True);
end;
