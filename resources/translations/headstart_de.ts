<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>headstart</name>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>A message holds half of a character, which cannot be read. Delete it, or write the message anew.</source>
   <translation>Eine Nachricht enthält ein halbes Zeichen, das nicht gelesen werden kann. Löschen Sie sie, oder schreiben Sie sie neu.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>A message is by one of {1}; {2} is none of them.</source>
   <translation>Eine Nachricht ist von einem aus {1}; {2} ist keiner davon.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>A plain prompt is one message, without tools.</source>
   <translation>Ein einfacher Prompt ist eine Nachricht, ohne Werkzeuge.</translation>
  </message>
  <message>
   <location filename="../../app/tools/servers.py" />
   <source>A quotation mark in the command has no partner. Add it.</source>
   <translation>Einem Anführungszeichen im Befehl fehlt das zweite. Ergänzen Sie es.</translation>
  </message>
  <message>
   <location filename="../../app/chat/rewriting.py" />
   <source>A server answers here, which cannot go on with an answer. Ask it to go on.</source>
   <translation>Hier antwortet ein Server, der eine Antwort nicht fortsetzen kann. Bitten Sie ihn fortzufahren.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>A server answers this conversation, and only what this computer computes can be proved. Have a model on this computer answer it first.</source>
   <translation>In dieser Unterhaltung antwortet ein Server, und nachprüfen lässt sich nur, was dieser Computer rechnet. Lassen Sie sie zuerst von einem Modell auf diesem Computer beantworten.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>A server cannot write ahead for a model that is here: choose a small model.</source>
   <translation>Ein Server kann für ein Modell auf diesem Computer nicht vorausschreiben: Wählen Sie ein kleines Modell.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>A server is named by its address, such as http://127.0.0.1:8000/v1, and a model of it by #NAME behind that.</source>
   <translation>Ein Server wird durch seine Adresse benannt, etwa http://127.0.0.1:8000/v1, und ein Modell darauf durch #NAME dahinter.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>A test prompt read in two pieces came out differently, so reuse would not be exact.</source>
   <translation>Ein in zwei Stücken gelesener Probe-Prompt kam anders heraus; Wiederverwendung wäre nicht genau.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>A tool call has no name: say which tool is meant.</source>
   <translation>Ein Werkzeugaufruf hat keinen Namen: Sagen Sie, welches Werkzeug gemeint ist.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>A tool has no name: give it one.</source>
   <translation>Ein Werkzeug hat keinen Namen: Geben Sie ihm einen.</translation>
  </message>
  <message>
   <location filename="../../engine/graphics.py" />
   <source>AMD {1} is not among the cards that torch's build for AMD is sure to work on.</source>
   <translation>AMD {1} gehört nicht zu den Karten, auf denen Torchs Ausgabe für AMD sicher läuft.</translation>
  </message>
  <message>
   <location filename="../../app/chat/session.py" />
   <source>An answer is being written here. Wait for its end or stop it first.</source>
   <translation>Hier wird gerade eine Antwort geschrieben. Warten Sie ihr Ende ab, oder halten Sie sie zuerst an.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>An answer is being written. Wait for its end or stop it, then prove it.</source>
   <translation>Gerade wird eine Antwort geschrieben. Warten Sie ihr Ende ab, oder halten Sie sie an, und prüfen Sie dann nach.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>An answer that has to fit a JSON Schema calls no tools: send one of the two.</source>
   <translation>Eine Antwort, die einem JSON-Schema folgen muss, ruft keine Werkzeuge auf: Senden Sie eines von beiden.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>An answer without a word, and its question, are not sent to the model again.</source>
   <translation>Eine Antwort ohne ein Wort und ihre Frage werden nicht noch einmal an das Modell gesendet.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>Another Headstart is installing this: wait until it is done.</source>
   <translation>Ein anderes Headstart installiert dies gerade: Warten Sie, bis es fertig ist.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/disk_tier.py" />
   <source>Another Headstart keeps its prompts on disk, so this one keeps them in memory only.</source>
   <translation>Ein anderes Headstart behält seine Prompts auf der Platte, also behält dieses sie nur im Speicher.</translation>
  </message>
  <message>
   <location filename="../../app/history/errors.py" />
   <source>Another program, perhaps a second Headstart, has the conversations open. Close it and try again.</source>
   <translation>Ein anderes Programm, vielleicht ein zweites Headstart, hat die Unterhaltungen geöffnet. Schließen Sie es, und versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Ask at each start whether there is a newer version. Nothing but the question is sent.</source>
   <translation>Bei jedem Start fragen, ob es eine neuere Version gibt. Nichts als die Frage wird gesendet.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Ask for the scores of up to {1} tokens beside each.</source>
   <translation>Fragen Sie zu jedem Token nach den Bewertungen von bis zu {1} anderen.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>Asking the server</source>
   <translation>Der Server wird gefragt</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Behind the first answer the model writes a title. What it has read of the conversation is remembered, so that only the question for a title is read; a question of yours breaks it off.</source>
   <translation>Hinter der ersten Antwort schreibt das Modell einen Titel. Was es von der Unterhaltung gelesen hat, ist gemerkt, sodass nur die Frage nach dem Titel gelesen wird; eine Frage von Ihnen bricht das ab.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/chat_template.py" />
   <source>Chat templates are read by a process of its own, which could not be started. Start Headstart again.</source>
   <translation>Chat-Vorlagen werden von einem eigenen Prozess gelesen, der nicht gestartet werden konnte. Starten Sie Headstart neu.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>Checking the default model</source>
   <translation>Das Standardmodell wird geprüft</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Choose a place for the system prompt among {1}.</source>
   <translation>Wählen Sie einen Ort für den System-Prompt aus {1}.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Choose a {1} among {2}; {3} is none of them.</source>
   <translation>Wählen Sie {1} aus {2}; {3} gehört nicht dazu.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>Choose another chat model, such as a Llama, Qwen3, Gemma, Mistral or Phi.</source>
   <translation>Wählen Sie ein anderes Chat-Modell, etwa Llama, Qwen3, Gemma, Mistral oder Phi.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>Downloading the default model</source>
   <translation>Das Standardmodell wird heruntergeladen</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Every block is reused.</source>
   <translation>Jeder Block wird wiederverwendet.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>Every block is reused. A chat that grows past {1} tokens is read anew once, with other positions.</source>
   <translation>Jeder Block wird wiederverwendet. Ein Chat, der über {1} Token wächst, wird einmal neu gelesen, mit anderen Positionen.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>Every block is reused. Layers that look back over a window only keep all tokens too, and mask them.</source>
   <translation>Jeder Block wird wiederverwendet. Auch Schichten, die nur über ein Fenster zurückblicken, behalten alle Token und blenden sie aus.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>Every block is reused. The context ends at {1} tokens: past them, earlier positions would change.</source>
   <translation>Jeder Block wird wiederverwendet. Der Kontext endet bei {1} Token: Dahinter würden sich frühere Positionen ändern.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>Fetching the program that installs it</source>
   <translation>Das Installationsprogramm wird geholt</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Folder or GGUF file of the model; empty for the default model.</source>
   <translation>Ordner oder GGUF-Datei des Modells; leer für das Standardmodell.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>For what was read of your prompts: the more, the more conversations go on without reading again. Automatic chooses by what is free.</source>
   <translation>Für das, was von Ihren Prompts gelesen wurde: je mehr, desto mehr Unterhaltungen gehen ohne erneutes Lesen weiter. Automatisch richtet sich nach dem, was frei ist.</translation>
  </message>
  <message>
   <location filename="../../app/history/names.py" />
   <source>Give the {1} a name.</source>
   <translation>Es fehlt ein Name ({1}). Geben Sie einen an.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Give tokens a bias between -{1} and {2}.</source>
   <translation>Geben Sie Token einen Bias zwischen -{1} und {2}.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Guess the next words of an answer from what was said before, and check several at once: names, quotations and code come sooner. Answers are the same.</source>
   <translation>Die nächsten Wörter einer Antwort aus dem raten, was schon gesagt wurde, und mehrere auf einmal prüfen: Namen, Zitate und Code kommen früher. Antworten sind dieselben.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>Headstart cannot install this on {1}.</source>
   <translation>Headstart kann dies auf {1} nicht installieren.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/launch.py" />
   <source>Headstart did not get ready with the graphics card the last time, so the processor computes this time. Where that happens again, remove the card's software in the preferences.</source>
   <translation>Headstart wurde das letzte Mal mit der Grafikkarte nicht fertig, also rechnet diesmal der Prozessor. Wenn das wieder geschieht, entfernen Sie in den Einstellungen die Software der Karte.</translation>
  </message>
  <message>
   <location filename="../../app/tools/connections.py" />
   <source>Headstart is closing.</source>
   <translation>Headstart schließt sich.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>Headstart was installed without its default model: install that as well, or start with --model PATH. It is the package {1}, or a box to tick in the installer.</source>
   <translation>Headstart wurde ohne sein Standardmodell installiert: Installieren Sie auch das, oder starten Sie mit --model PFAD. Es ist das Paket {1}, oder ein Kästchen im Installationsprogramm.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>How finely the model's numbers are kept: fewer bits write faster and take less memory. Measured at load, the fastest that loses nothing is taken. A change loads the model again.</source>
   <translation>Wie fein die Zahlen des Modells behalten werden: Weniger Bits schreiben schneller und belegen weniger Speicher. Beim Laden wird gemessen und das Schnellste genommen, bei dem nichts verloren geht. Eine Änderung lädt das Modell neu.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>How many tokens a conversation may grow to, by the path of the model. Others get as many as the computer's memory suggests.</source>
   <translation>Auf wie viele Token eine Unterhaltung wachsen darf, nach dem Pfad des Modells. Andere bekommen so viele, wie der Speicher des Computers nahelegt.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>How tokens are chosen in new conversations. As long as nothing is changed here, a model begins as its makers advise.</source>
   <translation>Wie in neuen Unterhaltungen Token gewählt werden. Solange hier nichts geändert wird, beginnt ein Modell so, wie seine Hersteller raten.</translation>
  </message>
  <message>
   <location filename="../../app/chat/calling.py" />
   <source>In another conversation the model wants to call a tool, and waits for your word.</source>
   <translation>In einer anderen Unterhaltung möchte das Modell ein Werkzeug aufrufen und wartet auf Ihre Antwort.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>In how many bits keys and values are cached, 8 or 16, by the path of the model. Others have 16.</source>
   <translation>In wie vielen Bits Schlüssel und Werte gemerkt werden, 8 oder 16, nach dem Pfad des Modells. Andere haben 16.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/chat_template.py" />
   <source>It knows no such choice: leave it out.</source>
   <translation>Es kennt diese Wahl nicht: Lassen Sie sie weg.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Keep a start of a prompt for up to {1} seconds, and count messages and characters from 0.</source>
   <translation>Behalten Sie den Anfang eines Prompts bis zu {1} Sekunden, und zählen Sie Nachrichten und Zeichen ab 0.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Keep keys and values in 8 or 16 bits; {1} is neither.</source>
   <translation>Behalten Sie Schlüssel und Werte in 8 oder 16 Bit; {1} ist keines von beiden.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Let a bias be pairs of a token and what is added to its logit.</source>
   <translation>Ein Bias sei Paare aus einem Token und dem, was zu seinem Logit addiert wird.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Let a conversation have at least {1} tokens; it is {2}.</source>
   <translation>Geben Sie einer Unterhaltung mindestens {1} Token; es sind {2}.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Let other programs on this computer use the model and its cache over HTTP.</source>
   <translation>Andere Programme auf diesem Computer das Modell und seinen Cache über HTTP nutzen lassen.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>Let questions and answers take turns in it, a question first.</source>
   <translation>Lassen Sie Fragen und Antworten darin abwechseln, eine Frage zuerst.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Let {1} be a tuple; it is {2}.</source>
   <translation>{1} sei ein Tupel; es ist {2}.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Let {1} be {2}; it is {3}.</source>
   <translation>{1} sei {2}; es ist {3}.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <location filename="../../engine/worker/thread.py" />
   <source>Loading the model</source>
   <translation>Das Modell wird geladen</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>Measuring the reading speed</source>
   <translation>Die Lesegeschwindigkeit wird gemessen</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>Memory is short: the model before was closed, loading again</source>
   <translation>Der Speicher ist knapp: Das vorige Modell wurde geschlossen, es wird noch einmal geladen</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Models that were opened, the newest first, one on a line.</source>
   <translation>Geöffnete Modelle, das neueste zuerst, je eines in einer Zeile.</translation>
  </message>
  <message>
   <location filename="../../engine/graphics.py" />
   <source>NVIDIA's driver does not answer: restart the computer, or install the driver anew.</source>
   <translation>Der Treiber von NVIDIA antwortet nicht: Starten Sie den Computer neu, oder installieren Sie den Treiber neu.</translation>
  </message>
  <message>
   <location filename="../../engine/graphics.py" />
   <source>NVIDIA's driver says nothing useful of {1}: install it anew.</source>
   <translation>Der Treiber von NVIDIA sagt nichts Brauchbares über {1}: Installieren Sie ihn neu.</translation>
  </message>
  <message>
   <location filename="../../app/tools/servers.py" />
   <source>Name a server by the command that starts it, or by its address, such as http://127.0.0.1:8000/mcp.</source>
   <translation>Nennen Sie einen Server durch den Befehl, der ihn startet, oder durch seine Adresse, etwa http://127.0.0.1:8000/mcp.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Names of the charts that are folded, with commas between them.</source>
   <translation>Namen der eingeklappten Diagramme, mit Kommas dazwischen.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/choosing.py" />
   <source>No answer of this model can be held to a call: its chat template writes calls in a form of its own. Leave the choice of tools to the model, or choose another one.</source>
   <translation>Keine Antwort dieses Modells lässt sich an einen Aufruf binden: Seine Chat-Vorlage schreibt Aufrufe in eigener Form. Überlassen Sie dem Modell die Wahl der Werkzeuge, oder wählen Sie ein anderes.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>No model is loaded. Open a model first.</source>
   <translation>Es ist kein Modell geladen. Öffnen Sie zuerst ein Modell.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>No server is chosen. Open one first.</source>
   <translation>Es ist kein Server gewählt. Öffnen Sie zuerst einen.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>No tool is called {1}, so it cannot be called: send it with the tools.</source>
   <translation>Kein Werkzeug heißt {1}, also kann es nicht aufgerufen werden: Senden Sie es mit den Werkzeugen.</translation>
  </message>
  <message>
   <location filename="../../app/application.py" />
   <source>Not everything could be deleted. What is left: {1}.</source>
   <translation>Nicht alles konnte gelöscht werden. Übrig ist: {1}.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>Not everything in {1} could be deleted ({2}). The next start uses none of it.</source>
   <translation>Nicht alles in {1} konnte gelöscht werden ({2}). Der nächste Start nutzt nichts davon.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/disk_files.py" />
   <source>Not everything that is kept on disk could be deleted now. Start Headstart again and delete it once more, or delete the folder {1} yourself.</source>
   <translation>Nicht alles auf der Platte konnte jetzt gelöscht werden. Starten Sie Headstart neu, und löschen Sie noch einmal, oder löschen Sie den Ordner {1} selbst.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>Nothing is downloaded while HF_HUB_OFFLINE is set: start Headstart without it.</source>
   <translation>Solange HF_HUB_OFFLINE gesetzt ist, wird nichts heruntergeladen: Starten Sie Headstart ohne es.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/disk_tier.py" />
   <source>Nothing is kept on disk this time: {1} cannot be used ({2}). Check its permissions, then start Headstart again.</source>
   <translation>Diesmal wird nichts auf der Platte behalten: {1} kann nicht genutzt werden ({2}). Prüfen Sie die Rechte, und starten Sie Headstart dann neu.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>Nothing was read ahead: that was stopped.</source>
   <translation>Es wurde nichts vorausgelesen: Das wurde angehalten.</translation>
  </message>
  <message>
   <location filename="../../app/chat/rewriting.py" />
   <source>Nothing would be left. Delete the conversation instead.</source>
   <translation>Es bliebe nichts übrig. Löschen Sie stattdessen die Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Only an answer of a chat that called no tool can go on.</source>
   <translation>Nur eine Antwort eines Chats, der kein Werkzeug aufrief, kann fortgesetzt werden.</translation>
  </message>
  <message>
   <location filename="../../app/chat/session.py" />
   <source>Parts of this conversation cannot be read and were left out. The rest is shown as it was stored.</source>
   <translation>Teile dieser Unterhaltung können nicht gelesen werden und wurden weggelassen. Der Rest wird gezeigt, wie er gespeichert war.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>Parts of what was deleted earlier may still be in {1}: there was no room to rewrite it.</source>
   <translation>Teile von früher Gelöschtem können noch in {1} sein: Es war kein Platz, um die Datei neu zu schreiben.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Perplexity of a page of text with the default model: {1}, in fp32 {2} (lower is better).</source>
   <translation>Perplexität einer Seite Text mit dem Standardmodell: {1}, in fp32 {2} (weniger ist besser).</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Perplexity of a page of text with the default model: {1}.</source>
   <translation>Perplexität einer Seite Text mit dem Standardmodell: {1}.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Pixels of the charts.</source>
   <translation>Pixel der Diagramme.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Pixels of the list of conversations.</source>
   <translation>Pixel der Liste der Unterhaltungen.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Place and size of the window, in Qt's own form as base64.</source>
   <translation>Ort und Größe des Fensters, in Qts eigener Form als base64.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Port of this computer at which other programs are answered.</source>
   <translation>Port dieses Computers, an dem anderen Programmen geantwortet wird.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Read a question while it is written, and a conversation when it is opened, as long as nothing is answered: not on battery, always, or never. Answers are the same, and begin sooner.</source>
   <translation>Eine Frage lesen, während sie geschrieben wird, und eine Unterhaltung, wenn sie geöffnet wird, solange nichts beantwortet wird: nicht im Akkubetrieb, immer oder nie. Antworten sind dieselben und beginnen früher.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>Reading {1}</source>
   <translation>{1} wird gelesen</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>Reading {1}: page {2} of {3}</source>
   <translation>{1} wird gelesen: Seite {2} von {3}</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Reuse what was computed for earlier prompts.</source>
   <translation>Wiederverwenden, was für frühere Prompts berechnet wurde.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Servers of tools, by their names: the command that starts each, or its address.</source>
   <translation>Server von Werkzeugen, nach ihren Namen: der Befehl, der jeden startet, oder seine Adresse.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Set the cache budget between 0 and {1} MB; it is {2} MB.</source>
   <translation>Setzen Sie das Budget des Caches zwischen 0 und {1} MB; es ist {2} MB.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Set what is kept on disk to 0 MB or more; it is {1} MB.</source>
   <translation>Setzen Sie, was auf der Platte behalten wird, auf 0 MB oder mehr; es ist {1} MB.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Set {1} between {2} and {3}; it is {4}.</source>
   <translation>Setzen Sie {1} zwischen {2} und {3}; es ist {4}.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Show the charts beside the transcript.</source>
   <translation>Die Diagramme neben der Unterhaltung zeigen.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Show the figures of a turn under each answer, not only on pointing at it.</source>
   <translation>Die Zahlen einer Runde unter jeder Antwort zeigen, nicht nur beim Daraufzeigen.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Show the list of conversations.</source>
   <translation>Die Liste der Unterhaltungen zeigen.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Size of messages against the usual one, in percent.</source>
   <translation>Größe von Nachrichten gegenüber der üblichen, in Prozent.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>So that what was read of your prompts need not be read again after a restart. Automatic takes 2 GB, but at most a tenth of the free space. With 0 MB nothing is kept there, and what is there is deleted at once.</source>
   <translation>Damit nach einem Neustart nicht erneut gelesen werden muss, was von Ihren Prompts gelesen wurde. Automatisch nimmt 2 GB, aber höchstens ein Zehntel des freien Platzes. Mit 0 MB wird dort nichts behalten, und was dort ist, wird sofort gelöscht.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Some settings were of no use and have their defaults: {1}. The file was kept as {2}.</source>
   <translation>Einige Einstellungen waren unbrauchbar und haben ihre Vorgaben: {1}. Die Datei wurde als {2} behalten.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>Something went wrong inside the engine. The conversation is safe: try again, or restart Headstart.</source>
   <translation>Im Hintergrund ist etwas schiefgegangen. Die Unterhaltung ist sicher: Versuchen Sie es noch einmal, oder starten Sie Headstart neu.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>Something went wrong with the answer of the server. Ask again.</source>
   <translation>Mit der Antwort des Servers ging etwas schief. Fragen Sie neu.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>Starting the engine</source>
   <translation>Das Programm im Hintergrund startet</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Sum of the tokens that were not read again.</source>
   <translation>Summe der Token, die nicht erneut gelesen wurden.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Sum of the waits for a first token that the cache spared, in seconds.</source>
   <translation>Summe der Wartezeiten auf ein erstes Token, die der Cache erspart hat, in Sekunden.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>That was stopped.</source>
   <translation>Das wurde angehalten.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>The Hub cannot give {1} now (error {2}): try again later.</source>
   <translation>Der Hub kann {1} jetzt nicht geben (Fehler {2}): Versuchen Sie es später noch einmal.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>The Hub gave too little of {1}: try again later.</source>
   <translation>Der Hub gab zu wenig von {1}: Versuchen Sie es später noch einmal.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>The Hub gives {1} only to those who agreed to its licence, or there is no such model. {2}Agree on its page, then give a token of your account.</source>
   <translation>Der Hub gibt {1} nur denen, die der Lizenz zugestimmt haben, oder es gibt kein solches Modell. {2}Stimmen Sie auf seiner Seite zu, und geben Sie dann ein Token Ihres Kontos an.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>The Hub had too many requests from here: go on in some minutes.</source>
   <translation>Der Hub bekam von hier zu viele Anfragen: Machen Sie in einigen Minuten weiter.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/constrained.py" />
   <source>The answer could not go on within its form. Write it more simply, or ask again.</source>
   <translation>Die Antwort konnte in ihrer Form nicht weitergehen. Schreiben Sie diese einfacher, oder fragen Sie neu.</translation>
  </message>
  <message>
   <location filename="../../app/chat/calling.py" />
   <source>The arguments are no JSON object.</source>
   <translation>Die Argumente sind kein JSON-Objekt.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/backup.py" />
   <source>The backup could not be written: {1}.</source>
   <translation>Die Sicherung konnte nicht geschrieben werden: {1}.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/choosing.py" />
   <source>The bias names the token {1}; this model has {2} tokens. Leave it out.</source>
   <translation>Der Bias nennt das Token {1}; dieses Modell hat {2} Token. Lassen Sie es weg.</translation>
  </message>
  <message>
   <location filename="../../app/tools/connections.py" />
   <source>The call was stopped.</source>
   <translation>Der Aufruf wurde angehalten.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>The colours of the window.</source>
   <translation>Die Farben des Fensters.</translation>
  </message>
  <message>
   <location filename="../../engine/models/from_transformers.py" />
   <source>The config.json in {1} describes a larger model than its weights are: the two do not belong together. Download the model again.</source>
   <translation>Die config.json in {1} beschreibt ein größeres Modell, als seine Gewichte sind: Beides gehört nicht zusammen. Laden Sie das Modell neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>The config.json in {1} names no model type: it does not belong to a language model.</source>
   <translation>Die config.json in {1} nennt keine Art von Modell: Sie gehört zu keinem Sprachmodell.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>The config.json in {1} says {2} for {3}, and the weights are too few for that: the two do not belong together. Download the model again.</source>
   <translation>Die config.json in {1} sagt {2} für {3}, und dafür sind die Gewichte zu wenige: Beides gehört nicht zusammen. Laden Sie das Modell neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>The config.json in {1} says {2} for {3}, and there are {4} tensors: the two do not belong together. Download the model again.</source>
   <translation>Die config.json in {1} sagt {2} für {3}, und es gibt {4} Tensoren: Beides gehört nicht zusammen. Laden Sie das Modell neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>The connection broke, and the server began another answer. Ask again.</source>
   <translation>Die Verbindung brach ab, und der Server begann eine andere Antwort. Fragen Sie neu.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>The connection to the server broke in the middle of the answer, and again. Ask again.</source>
   <translation>Die Verbindung zum Server brach mitten in der Antwort ab, und dann noch einmal. Fragen Sie neu.</translation>
  </message>
  <message>
   <location filename="../../app/history/errors.py" />
   <source>The conversations cannot be stored. Start Headstart again.</source>
   <translation>Die Unterhaltungen können nicht gespeichert werden. Starten Sie Headstart neu.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>The default model could not be downloaded: check the network connection and pip's index settings and try again, or start with --model PATH.</source>
   <translation>Das Standardmodell konnte nicht heruntergeladen werden: Prüfen Sie die Netzwerkverbindung und die Index-Einstellungen von pip, und versuchen Sie es noch einmal, oder starten Sie mit --model PFAD.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>The default model that came with Headstart is damaged: install it again, or start with --model PATH.</source>
   <translation>Das mit Headstart gelieferte Standardmodell ist beschädigt: Installieren Sie es neu, oder starten Sie mit --model PFAD.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>The default model that was downloaded is not the expected one: check which package index pip uses, or start with --model PATH.</source>
   <translation>Das heruntergeladene Standardmodell ist nicht das erwartete: Prüfen Sie, welchen Paketindex pip nutzt, oder starten Sie mit --model PFAD.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/disk_tier.py" />
   <source>The disk is almost full, so nothing more is kept there until some space is free again.</source>
   <translation>Die Platte ist fast voll, also wird dort nichts mehr behalten, bis wieder Platz frei ist.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/disk_tier.py" />
   <source>The disk is full, so nothing more is kept on disk this time: free some space and start Headstart again.</source>
   <translation>Die Platte ist voll, also wird diesmal nichts mehr auf ihr behalten: Schaffen Sie Platz, und starten Sie Headstart neu.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>The disk is full, so nothing was installed: free some space and try again.</source>
   <translation>Die Platte ist voll, also wurde nichts installiert: Schaffen Sie Platz, und versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <location filename="../../app/history/errors.py" />
   <source>The disk is full, so this is not stored yet. Free some space and try again.</source>
   <translation>Die Platte ist voll, also ist dies noch nicht gespeichert. Schaffen Sie Platz, und versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>The disk is full: free about {1} for the default model, then try again.</source>
   <translation>Die Platte ist voll: Schaffen Sie etwa {1} für das Standardmodell, und versuchen Sie es dann noch einmal.</translation>
  </message>
  <message>
   <location filename="../../engine/library/places.py" />
   <source>The disk is full: free some space, or set HEADSTART_DATA_DIR to a folder on another disk.</source>
   <translation>Die Platte ist voll: Schaffen Sie Platz, oder setzen Sie HEADSTART_DATA_DIR auf einen Ordner auf einer anderen Platte.</translation>
  </message>
  <message>
   <location filename="../../app/history/errors.py" />
   <source>The disk is so full that this could not be deleted. Free some space, then delete it again.</source>
   <translation>Die Platte ist so voll, dass dies nicht gelöscht werden konnte. Schaffen Sie Platz, und löschen Sie es dann noch einmal.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <location filename="../../engine/worker/thread.py" />
   <source>The engine is closed. Start Headstart again.</source>
   <translation>Das Programm im Hintergrund ist geschlossen. Starten Sie Headstart neu.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>The engine stopped because of an error of its own. The conversation is safe: open the model again.</source>
   <translation>Das Programm im Hintergrund hielt wegen eines eigenen Fehlers an. Die Unterhaltung ist sicher: Öffnen Sie das Modell neu.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>The file with your conversations is another one than at the end: it was copied back. Changes that were not yet carried over belong to the other one, and were kept as {1}.</source>
   <translation>Die Datei mit Ihren Unterhaltungen ist eine andere als am Ende: Sie wurde zurückkopiert. Noch nicht übertragene Änderungen gehören zur anderen und wurden als {1} behalten.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>The file with your conversations is damaged. It was kept as {1}, and a new one was begun.</source>
   <translation>Die Datei mit Ihren Unterhaltungen ist beschädigt. Sie wurde als {1} behalten, und eine neue wurde begonnen.</translation>
  </message>
  <message>
   <location filename="../../app/history/errors.py" />
   <source>The file with your conversations is damaged. Start Headstart again: it sets the file aside.</source>
   <translation>Die Datei mit Ihren Unterhaltungen ist beschädigt. Starten Sie Headstart neu: Es legt die Datei beiseite.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>The file with your conversations was damaged. It was kept as {1}. {2}.</source>
   <translation>Die Datei mit Ihren Unterhaltungen war beschädigt. Sie wurde als {1} behalten. {2}.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>The file with your conversations was empty. A new one was begun.</source>
   <translation>Die Datei mit Ihren Unterhaltungen war leer. Eine neue wurde begonnen.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>The folder {1} cannot be made. Check its permissions.</source>
   <translation>Der Ordner {1} kann nicht angelegt werden. Prüfen Sie seine Rechte.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>The graphics card does not compute as it should ({1}), so nothing was installed. A newer driver may help; the processor goes on computing.</source>
   <translation>Die Grafikkarte rechnet nicht, wie sie soll ({1}), also wurde nichts installiert. Ein neuerer Treiber hilft vielleicht; weiterhin rechnet der Prozessor.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/disk_tier.py" />
   <source>The index of what is kept on disk cannot be read, so all of it is deleted and begins anew.</source>
   <translation>Das Verzeichnis dessen, was auf der Platte behalten ist, ist nicht lesbar; alles davon wird gelöscht und beginnt neu.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>The language of the window. A change is there from the next start on.</source>
   <translation>Die Sprache des Fensters. Eine Änderung gilt ab dem nächsten Start.</translation>
  </message>
  <message>
   <location filename="../../app/chat/calling.py" />
   <source>The model called tools {1} times for one question, so they are called no more. Ask again to go on.</source>
   <translation>Das Modell rief für eine Frage {1}-mal Werkzeuge auf, also werden sie nicht mehr aufgerufen. Fragen Sie noch einmal, um weiterzumachen.</translation>
  </message>
  <message>
   <location filename="../../engine/library/places.py" />
   <source>The model cannot be prepared in {1} ({2}): check its permissions.</source>
   <translation>Das Modell kann nicht in {1} vorbereitet werden ({2}): Prüfen Sie die Rechte.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>The model could not be loaded.</source>
   <translation>Das Modell konnte nicht geladen werden.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>The model is on another server, which cannot go on with an answer. Ask it to go on, or answer again.</source>
   <translation>Das Modell ist auf einem anderen Server, der eine Antwort nicht fortsetzen kann. Bitten Sie ihn fortzufahren, oder lassen Sie neu antworten.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>The model is on another server, which is asked for chats only: no plain texts, scores, or kept prompts.</source>
   <translation>Das Modell ist auf einem anderen Server, der nur nach Chats gefragt wird: keine einfachen Texte, Bewertungen oder behaltenen Prompts.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>The model is on another server, which knows no cache_salt: leave it out.</source>
   <translation>Das Modell ist auf einem anderen Server, der kein cache_salt kennt: Lassen Sie es weg.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>The model was not loaded: that was stopped.</source>
   <translation>Das Modell wurde nicht geladen: Das wurde angehalten.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>The model's numbers left the range that its number type can hold, so there is no answer. Load it in bf16 or fp32, or download it again.</source>
   <translation>Die Zahlen des Modells haben den Bereich ihres Zahlenformats verlassen, also gibt es keine Antwort. Laden Sie es in bf16 oder fp32, oder laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>The parameters of the tool {1} are no JSON: write them as a JSON Schema.</source>
   <translation>Die Parameter des Werkzeugs {1} sind kein JSON: Schreiben Sie sie als JSON-Schema.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>The parameters of the tool {1} are no object: write a JSON Schema.</source>
   <translation>Die Parameter des Werkzeugs {1} sind kein Objekt: Schreiben Sie ein JSON-Schema.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/constrained.py" />
   <source>The parameters of these tools cannot be followed: {1}. Write them more simply.</source>
   <translation>Den Parametern dieser Werkzeuge kann nicht gefolgt werden: {1}. Schreiben Sie sie einfacher.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>The path of a smaller model of the same family that guesses what a model writes, by the path of that model. Others have none.</source>
   <translation>Der Pfad eines kleineren Modells derselben Familie, das rät, was ein Modell schreibt, nach dem Pfad jenes Modells. Andere haben keines.</translation>
  </message>
  <message>
   <location filename="../../engine/library/resolve.py" />
   <source>The path {1} holds bytes that are no text in UTF-8: rename what is called so.</source>
   <translation>Der Pfad {1} enthält Bytes, die kein Text in UTF-8 sind: Benennen Sie um, was so heißt.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>The preview was not made: that was stopped.</source>
   <translation>Die Vorschau wurde nicht gemacht: Das wurde angehalten.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>The server at {1} cannot be reached. Check that it runs, and its address.</source>
   <translation>Der Server unter {1} ist nicht erreichbar. Prüfen Sie, ob er läuft, und seine Adresse.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>The server wants another key. Give it with the server's address.</source>
   <translation>Der Server will einen anderen Schlüssel. Geben Sie ihn bei der Adresse des Servers an.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>The settings cannot be written to {1}. Check its permissions and the free disk space.</source>
   <translation>Die Einstellungen können nicht in {1} geschrieben werden. Prüfen Sie die Rechte der Datei und den freien Platz.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>The settings in {1} are broken. Delete this file.</source>
   <translation>Die Einstellungen in {1} sind beschädigt. Löschen Sie diese Datei.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>The settings in {1} cannot be read. Check its permissions.</source>
   <translation>Die Einstellungen in {1} können nicht gelesen werden. Prüfen Sie die Rechte der Datei.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>The settings were broken ({1}). They were kept as {2}, and the defaults are in use.</source>
   <translation>Die Einstellungen waren beschädigt ({1}). Sie wurden als {2} behalten, und es gelten die Vorgaben.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>The software for the graphics card could not be downloaded: check the network connection and try again. Nothing was changed.</source>
   <translation>Die Software für die Grafikkarte konnte nicht heruntergeladen werden: Prüfen Sie die Netzwerkverbindung, und versuchen Sie es noch einmal. Es wurde nichts geändert.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>The software for the graphics card could not be installed. Nothing was changed.</source>
   <translation>Die Software für die Grafikkarte konnte nicht installiert werden. Es wurde nichts geändert.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>The software for the graphics card takes {1} GB in {2}, and {3} GB are free: free some space, or set HEADSTART_DATA_DIR to a folder on another disk.</source>
   <translation>Die Software für die Grafikkarte braucht {1} GB in {2}, und {3} GB sind frei: Schaffen Sie Platz, oder setzen Sie HEADSTART_DATA_DIR auf einen Ordner auf einer anderen Platte.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>The token that is kept was refused, or its account may not read it.</source>
   <translation>Das gespeicherte Token wurde abgelehnt, oder sein Konto darf es nicht lesen.</translation>
  </message>
  <message>
   <location filename="../../engine/gguf/vocabulary.py" />
   <source>The tokenizer in {1} cannot be read: download the file again.</source>
   <translation>Der Tokenizer in {1} ist nicht lesbar: Laden Sie die Datei neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/turn.py" />
   <source>The tokenizer writes tokens that this model does not have: the two do not belong together. Download the model again, or choose another one.</source>
   <translation>Der Tokenizer schreibt Token, die dieses Modell nicht hat: Beides gehört nicht zusammen. Laden Sie das Modell neu herunter, oder wählen Sie ein anderes.</translation>
  </message>
  <message>
   <location filename="../../app/tools/connections.py" />
   <source>The tool server {1} cannot be reached. Check that it runs, and its address.</source>
   <translation>Der Werkzeug-Server {1} ist nicht erreichbar. Prüfen Sie, ob er läuft, und seine Adresse.</translation>
  </message>
  <message>
   <location filename="../../app/tools/connections.py" />
   <source>The tool server {1} cannot be started. Check its command.</source>
   <translation>Der Werkzeug-Server {1} kann nicht gestartet werden. Prüfen Sie seinen Befehl.</translation>
  </message>
  <message>
   <location filename="../../app/tools/connections.py" />
   <source>The tool server {1} ended, or the connection to it broke. It is started again with the next call.</source>
   <translation>Der Werkzeug-Server {1} endete, oder die Verbindung zu ihm brach ab. Mit dem nächsten Aufruf wird er neu gestartet.</translation>
  </message>
  <message>
   <location filename="../../app/tools/connections.py" />
   <source>The tool server {1} gave no answer in {2} s. Try again, or switch its tools off.</source>
   <translation>Der Werkzeug-Server {1} antwortete in {2} s nicht. Versuchen Sie es noch einmal, oder schalten Sie seine Werkzeuge aus.</translation>
  </message>
  <message>
   <location filename="../../app/chat/calling.py" />
   <source>The tool server {1} was removed. Add it again in Tools…, or switch its tools off.</source>
   <translation>Der Werkzeug-Server {1} wurde entfernt. Fügen Sie ihn unter „Werkzeuge…“ wieder hinzu, oder schalten Sie seine Werkzeuge aus.</translation>
  </message>
  <message>
   <location filename="../../app/chat/calling.py" />
   <source>The user does not allow this tool to be called. Answer without it.</source>
   <translation>Der Benutzer erlaubt den Aufruf dieses Werkzeugs nicht. Antworte ohne es.</translation>
  </message>
  <message>
   <location filename="../../app/history/filing.py" />
   <source>There is a folder “{1}” already. Give another name.</source>
   <translation>Es gibt schon einen Ordner „{1}“. Geben Sie einen anderen Namen an.</translation>
  </message>
  <message>
   <location filename="../../app/history/presets.py" />
   <source>There is a preset “{1}” already.</source>
   <translation>Es gibt schon eine Vorlage „{1}“.</translation>
  </message>
  <message>
   <location filename="../../app/chat/rewriting.py" />
   <source>There is no answer here that was cut off. Ask something first.</source>
   <translation>Hier gibt es keine abgebrochene Antwort. Stellen Sie zuerst eine Frage.</translation>
  </message>
  <message>
   <location filename="../../engine/graphics.py" />
   <source>There is no graphics card here that torch has a build for.</source>
   <translation>Hier ist keine Grafikkarte, für die es eine Ausgabe von Torch gibt.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>There is no message to answer: write one first.</source>
   <translation>Es gibt keine Nachricht zu beantworten: Schreiben Sie zuerst eine.</translation>
  </message>
  <message>
   <location filename="../../engine/library/resolve.py" />
   <source>There is no model at {1}: check the path.</source>
   <translation>In {1} ist kein Modell: Prüfen Sie den Pfad.</translation>
  </message>
  <message>
   <location filename="../../app/chat/session.py" />
   <source>There is no model to answer. Open one first; what the tools gave back is kept.</source>
   <translation>Es gibt kein Modell, das antwortet. Öffnen Sie zuerst eines; was die Werkzeuge ergaben, bleibt erhalten.</translation>
  </message>
  <message>
   <location filename="../../app/chat/session.py" />
   <source>There is no model to answer. Open one first; your text is kept.</source>
   <translation>Es gibt kein Modell, das antwortet. Öffnen Sie zuerst eines; Ihr Text bleibt erhalten.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>There is no model to prove it with. Open one first.</source>
   <translation>Es gibt kein Modell, um es nachzuprüfen. Öffnen Sie zuerst eines.</translation>
  </message>
  <message>
   <location filename="../../app/chat/branch.py" />
   <source>There is no question to answer yet. Write one first.</source>
   <translation>Es gibt noch keine Frage zu beantworten. Schreiben Sie zuerst eine.</translation>
  </message>
  <message>
   <location filename="../../app/history/presets.py" />
   <source>There is no text to keep yet. Write a system prompt first.</source>
   <translation>Es gibt noch keinen Text zu speichern. Schreiben Sie zuerst einen System-Prompt.</translation>
  </message>
  <message>
   <location filename="../../app/chat/calling.py" />
   <source>There is no tool with this name.</source>
   <translation>Es gibt kein Werkzeug mit diesem Namen.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>There is no {1} on the Hub, or a file of it is gone: check the name.</source>
   <translation>Auf dem Hub gibt es kein {1}, oder eine seiner Dateien ist weg: Prüfen Sie den Namen.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/turn.py" />
   <source>There is not enough memory for this conversation. Close other programs, choose a smaller model, or start a new conversation.</source>
   <translation>Für diese Unterhaltung ist nicht genug Speicher da. Schließen Sie andere Programme, wählen Sie ein kleineres Modell, oder beginnen Sie eine neue Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>There is not enough memory to load {1}. Close other programs or choose a smaller model.</source>
   <translation>Um {1} zu laden, ist nicht genug Speicher da. Schließen Sie andere Programme, oder wählen Sie ein kleineres Modell.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>This Headstart was installed without what it needs for that: install it again.</source>
   <translation>Dieses Headstart wurde ohne das installiert, was es dafür braucht: Installieren Sie es neu.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/constrained.py" />
   <source>This JSON Schema cannot be followed: {1}. Write it more simply.</source>
   <translation>Diesem JSON-Schema kann nicht gefolgt werden: {1}. Schreiben Sie es einfacher.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>This Python has no pip to fetch the default model with: start with --model PATH.</source>
   <translation>Dieses Python hat kein pip, um das Standardmodell zu holen: Starten Sie mit --model PFAD.</translation>
  </message>
  <message>
   <location filename="../../app/proof/presenter.py" />
   <source>This answer is not in the conversation in view. Open its conversation first.</source>
   <translation>Diese Antwort ist nicht in der Unterhaltung, die zu sehen ist. Öffnen Sie zuerst deren Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../engine/models/choice.py" />
   <source>This computer has no usable {1} device. Choose the device 'auto' or 'cpu'.</source>
   <translation>Dieser Computer hat kein nutzbares Gerät {1}. Wählen Sie als Gerät „auto“ oder „cpu“.</translation>
  </message>
  <message>
   <location filename="../../app/history/history.py" />
   <source>This conversation is no longer there. Choose another one.</source>
   <translation>Diese Unterhaltung gibt es nicht mehr. Wählen Sie eine andere.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/turn.py" />
   <source>This conversation is {1} tokens long; the model reads {2}, so only {3} are left for the answer. Ask for a shorter answer, or start a new conversation.</source>
   <translation>Diese Unterhaltung ist {1} Token lang; das Modell liest {2}, sodass nur {3} für die Antwort bleiben. Bitten Sie um eine kürzere Antwort, oder beginnen Sie eine neue Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/turn.py" />
   <source>This conversation is {1} tokens long; the model reads {2}. Shorten the message or the system prompt, or start a new conversation.</source>
   <translation>Diese Unterhaltung ist {1} Token lang; das Modell liest {2}. Kürzen Sie die Nachricht oder den System-Prompt, oder beginnen Sie eine neue Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../app/history/filing.py" />
   <source>This conversation was deleted for good already.</source>
   <translation>Diese Unterhaltung wurde schon endgültig gelöscht.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/work.py" />
   <source>This ended with an error that Headstart did not expect. Its log says more.</source>
   <translation>Dies endete mit einem Fehler, mit dem Headstart nicht gerechnet hat. Sein Protokoll sagt mehr.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/turn.py" />
   <source>This engine knows no servers, only the model that is loaded. Name no server.</source>
   <translation>Hier gibt es keine Server, nur das geladene Modell. Nennen Sie keinen Server.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_files.py" />
   <source>This file holds no presets. Choose one that Headstart wrote, or a text file with one system prompt.</source>
   <translation>Diese Datei enthält keine Vorlagen. Wählen Sie eine von Headstart geschriebene, oder eine Textdatei mit einem System-Prompt.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>This is an encoder-decoder model, and Headstart runs decoder models only.</source>
   <translation>Dies ist ein Encoder-Decoder-Modell, und Headstart führt nur Decoder-Modelle aus.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>This is no token of the Hub: copy it once more from the settings of your account.</source>
   <translation>Das ist kein Token des Hubs: Kopieren Sie es noch einmal aus den Einstellungen Ihres Kontos.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>This kind of model cannot be opened for text chat on its own.</source>
   <translation>Diese Art von Modell lässt sich nicht für sich allein als Text-Chat öffnen.</translation>
  </message>
  <message>
   <location filename="../../app/history/history.py" />
   <source>This message is no longer there. Open the conversation again.</source>
   <translation>Diese Nachricht gibt es nicht mehr. Öffnen Sie die Unterhaltung neu.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>This model computes attention in a way of its own, which Headstart cannot drive.</source>
   <translation>Dieses Modell berechnet Attention auf eigene Art, die Headstart nicht bedienen kann.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>This model keeps a running state that cannot be cut back to a shared start, so reuse would not be exact.</source>
   <translation>Dieses Modell führt einen laufenden Zustand, der sich nicht auf einen gemeinsamen Anfang zurückschneiden lässt; Wiederverwendung wäre nicht genau.</translation>
  </message>
  <message>
   <location filename="../../engine/library/places.py" />
   <source>This model needs {1} GB in {2}, and {3} GB are free: free some space, or set HEADSTART_DATA_DIR to a folder on another disk.</source>
   <translation>Dieses Modell braucht {1} GB in {2}, und {3} GB sind frei: Schaffen Sie Platz, oder setzen Sie HEADSTART_DATA_DIR auf einen Ordner auf einer anderen Platte.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>This model picks the tokens it looks at through an index that Headstart does not keep.</source>
   <translation>Dieses Modell wählt die Token, die es ansieht, über ein Verzeichnis, das Headstart nicht führt.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>This model reads a prompt in both directions, so the start of a prompt depends on its end.</source>
   <translation>Dieses Modell liest einen Prompt in beide Richtungen, sodass sein Anfang von seinem Ende abhängt.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/going_on.py" />
   <source>This model would read the beginning of this answer otherwise: its thought, or a mark in its text. Have a new answer written.</source>
   <translation>Dieses Modell läse den Anfang dieser Antwort anders: ihren Gedanken, oder ein Zeichen in ihrem Text. Lassen Sie neu antworten.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/chat_template.py" />
   <source>This model's chat template does not accept these messages.</source>
   <translation>Die Chat-Vorlage dieses Modells nimmt diese Nachrichten nicht an.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>This model's chat template knows no tools. Send the request without them, or choose a model that was trained for tools, such as a Qwen3 or a Llama-3.1.</source>
   <translation>Die Chat-Vorlage dieses Modells kennt keine Werkzeuge. Senden Sie die Anfrage ohne sie, oder wählen Sie ein für Werkzeuge trainiertes Modell, etwa Qwen3 oder Llama-3.1.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/turn.py" />
   <source>This model's chat template leaves nothing of these messages. Ask a question first.</source>
   <translation>Die Chat-Vorlage dieses Modells lässt von diesen Nachrichten nichts übrig. Stellen Sie zuerst eine Frage.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>This model's chat template leaves out a part of an earlier answer.</source>
   <translation>Die Chat-Vorlage dieses Modells lässt einen Teil einer früheren Antwort weg.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>This model's chat template leaves out one of the messages. Delete it, or choose another model.</source>
   <translation>Die Chat-Vorlage dieses Modells lässt eine der Nachrichten weg. Löschen Sie sie, oder wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>This model's chat template leaves out what tools returned. Put it into a question, or choose a model that was trained for tools, such as a Qwen3 or a Llama-3.1.</source>
   <translation>Die Chat-Vorlage dieses Modells lässt weg, was Werkzeuge ergaben. Schreiben Sie es in eine Frage, oder wählen Sie ein für Werkzeuge trainiertes Modell, etwa Qwen3 oder Llama-3.1.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>This model's chat template takes a system prompt at the start only, so a later one stands in front of a question.</source>
   <translation>Die Chat-Vorlage dieses Modells nimmt einen System-Prompt nur am Anfang, also steht ein späterer vor einer Frage.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/chat_template.py" />
   <source>This model's chat template takes more time or memory than any should, so it was stopped. Download the model again, or choose another one.</source>
   <translation>Die Chat-Vorlage dieses Modells braucht mehr Zeit oder Speicher, als eine darf, und wurde angehalten. Laden Sie das Modell neu herunter, oder wählen Sie ein anderes.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>This model's chat template takes no system prompt, so it stands in front of the first question.</source>
   <translation>Die Chat-Vorlage dieses Modells nimmt keinen System-Prompt, also steht er vor der ersten Frage.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>This model's chat template takes no system prompt. Delete it, or have it put in front of the first question.</source>
   <translation>Die Chat-Vorlage dieses Modells nimmt keinen System-Prompt. Löschen Sie ihn, oder lassen Sie ihn vor die erste Frage setzen.</translation>
  </message>
  <message>
   <location filename="../../engine/models/support.py" />
   <source>This model's position code changes earlier tokens when the prompt grows, so reuse would not be exact.</source>
   <translation>Der Positionscode dieses Modells ändert frühere Token, wenn der Prompt wächst; Wiederverwendung wäre nicht genau.</translation>
  </message>
  <message>
   <location filename="../../app/history/names.py" />
   <source>This name has {1} characters. Give one of at most {2}.</source>
   <translation>Dieser Name hat {1} Zeichen. Geben Sie einen von höchstens {2} an.</translation>
  </message>
  <message>
   <location filename="../../app/history/names.py" />
   <source>This name holds characters that cannot be shown. Type it anew.</source>
   <translation>Dieser Name enthält Zeichen, die nicht gezeigt werden können. Tippen Sie ihn neu.</translation>
  </message>
  <message>
   <location filename="../../app/history/presets.py" />
   <source>This preset is no longer there. Choose another one.</source>
   <translation>Diese Vorlage gibt es nicht mehr. Wählen Sie eine andere.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>This prompt lies on the server, and is kept or dropped there.</source>
   <translation>Dieser Prompt liegt auf dem Server und wird dort behalten oder verworfen.</translation>
  </message>
  <message>
   <location filename="../../app/chat/branch.py" />
   <source>This question is not in the conversation in view. Open its conversation first.</source>
   <translation>Diese Frage ist nicht in der Unterhaltung, die zu sehen ist. Öffnen Sie zuerst deren Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/picture.py" />
   <source>This run is in the computer's memory only, so there is nothing on the graphics card to keep. Send a message that begins with it, then keep it.</source>
   <translation>Dieser Abschnitt liegt nur im Speicher des Computers, also gibt es auf der Grafikkarte nichts anzuheften. Senden Sie eine Nachricht, die mit ihm beginnt, und heften Sie ihn dann an.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/picture.py" />
   <source>This run is on disk only, so there is nothing in memory to keep. Send a message that begins with it, then keep it.</source>
   <translation>Dieser Abschnitt liegt nur auf der Platte, also gibt es im Speicher nichts anzuheften. Senden Sie eine Nachricht, die mit ihm beginnt, und heften Sie ihn dann an.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/counting.py" />
   <source>This server does not count tokens ahead.</source>
   <translation>Dieser Server zählt Token nicht im Voraus.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>This server does not say what it reused.</source>
   <translation>Dieser Server sagt nicht, was er wiederverwendet hat.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>This server has no model {1}. It has: {2}.</source>
   <translation>Dieser Server hat kein Modell {1}. Er hat: {2}.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>This server knows only temperature and top-p, so the other ways of choosing tokens are left out.</source>
   <translation>Dieser Server kennt nur Temperatur und Top-p; die anderen Arten, Token zu wählen, fallen weg.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/wire.py" />
   <source>This server lists no model. Load one there first.</source>
   <translation>Dieser Server nennt kein Modell. Laden Sie dort zuerst eines.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/keys.py" />
   <source>This system keeps no keys, so the key was not stored. Set up a keyring, or use a server without a key.</source>
   <translation>Dieses System behält keine Schlüssel, also wurde der Schlüssel nicht gespeichert. Richten Sie einen Schlüsselbund ein, oder nutzen Sie einen Server ohne Schlüssel.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>This system keeps no keys, so the token was not stored. Set up a keyring, or start Headstart with HF_TOKEN in its environment.</source>
   <translation>Dieses System behält keine Schlüssel, also wurde das Token nicht gespeichert. Richten Sie einen Schlüsselbund ein, oder starten Sie Headstart mit HF_TOKEN in seiner Umgebung.</translation>
  </message>
  <message>
   <location filename="../../app/history/errors.py" />
   <source>This text holds half of a character. Write it anew.</source>
   <translation>Dieser Text enthält ein halbes Zeichen. Schreiben Sie ihn neu.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Token ids lie between 0 and {1}: leave the others out.</source>
   <translation>Token-Nummern liegen zwischen 0 und {1}: Lassen Sie die anderen weg.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>Try without a system prompt.</source>
   <translation>Versuchen Sie es ohne System-Prompt.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>Try without the thoughts of earlier answers.</source>
   <translation>Versuchen Sie es ohne die Gedanken früherer Antworten.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>Try without tools.</source>
   <translation>Versuchen Sie es ohne Werkzeuge.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>Trying the graphics card</source>
   <translation>Die Grafikkarte wird erprobt</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>Trying to start with it</source>
   <translation>Ein Start damit wird erprobt</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Two tools are called {1}: give each a name of its own.</source>
   <translation>Zwei Werkzeuge heißen {1}: Geben Sie jedem einen eigenen Namen.</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>Unpacking the default model</source>
   <translation>Das Standardmodell wird ausgepackt</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/launch.py" />
   <source>Until then the processor computes.</source>
   <translation>Bis dahin rechnet der Prozessor.</translation>
  </message>
  <message>
   <location filename="../../engine/library/places.py" />
   <source>Waiting for another Headstart that prepares this model</source>
   <translation>Ein anderes Headstart bereitet dieses Modell gerade vor</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>Waiting for another download of this model</source>
   <translation>Ein anderes Herunterladen dieses Modells wird abgewartet</translation>
  </message>
  <message>
   <location filename="../../engine/cache/disk_files.py" />
   <source>What is kept on disk of deleted conversations could not be deleted now. It is deleted when Headstart starts again.</source>
   <translation>Was von gelöschten Unterhaltungen auf der Platte ist, konnte jetzt nicht gelöscht werden. Es wird gelöscht, wenn Headstart wieder startet.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>What the model is told before every conversation that you begin from now on; empty for nothing.</source>
   <translation>Was dem Modell vor jeder Unterhaltung gesagt wird, die Sie von jetzt an beginnen; leer für nichts.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>What the server says is no JSON. Check its address: most end in /v1.</source>
   <translation>Was der Server sagt, ist kein JSON. Prüfen Sie seine Adresse: Die meisten enden mit /v1.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>What to do when a conversation grows longer than the model reads.</source>
   <translation>Was geschehen soll, wenn eine Unterhaltung länger wird, als das Modell liest.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>What was downloaded for the graphics card is not what was expected, so nothing was installed: try again later, or check which package index this network leads to.</source>
   <translation>Was für die Grafikkarte heruntergeladen wurde, ist nicht das Erwartete, also wurde nichts installiert: Versuchen Sie es später noch einmal, oder prüfen Sie, zu welchem Paketindex dieses Netzwerk führt.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/backup.py" />
   <source>What was there is kept as {1}.</source>
   <translation>Was vorher da war, wurde als {1} behalten.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/backup.py" />
   <source>What was there is there again.</source>
   <translation>Was vorher da war, ist wieder da.</translation>
  </message>
  <message>
   <location filename="../../app/updates.py" />
   <source>What {1} says about newer versions cannot be read. Its makers have to mend it.</source>
   <translation>Was {1} über neuere Versionen sagt, ist nicht lesbar. Das müssen die Hersteller beheben.</translation>
  </message>
  <message>
   <location filename="../../app/updates.py" />
   <source>What {1} says about newer versions is not signed by Headstart's makers, so it was not used.</source>
   <translation>Was {1} über neuere Versionen sagt, ist nicht von den Herstellern von Headstart signiert und wurde deshalb nicht verwendet.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>When each model was opened last, in seconds since 1970, by its path.</source>
   <translation>Wann jedes Modell zuletzt geöffnet wurde, in Sekunden seit 1970, nach seinem Pfad.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Where the model computes. A change loads the model again.</source>
   <translation>Wo das Modell rechnet. Eine Änderung lädt das Modell neu.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Whether the cold time of any turn in these sums is an estimate.</source>
   <translation>Ob die kalte Zeit einer der Runden in diesen Summen geschätzt ist.</translation>
  </message>
  <message>
   <location filename="../../app/updates.py" />
   <source>Whether there is a newer version is not known: {1} answers with an error ({2}). Try again later.</source>
   <translation>Ob es eine neuere Version gibt, ist nicht bekannt: {1} antwortet mit einem Fehler ({2}). Versuchen Sie es später noch einmal.</translation>
  </message>
  <message>
   <location filename="../../app/updates.py" />
   <source>Whether there is a newer version is not known: {1} does not answer. Check the network connection.</source>
   <translation>Ob es eine neuere Version gibt, ist nicht bekannt: {1} antwortet nicht. Prüfen Sie die Netzwerkverbindung.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Which tools are called without asking (always), and which not at all (never).</source>
   <translation>Welche Werkzeuge ohne Nachfrage aufgerufen werden (always) und welche gar nicht (never).</translation>
  </message>
  <message>
   <location filename="../../engine/turn/constrained.py" />
   <source>With this model calls cannot be told from text while they are written, so its tools can be neither strict nor limited to some of them. Require a call, or leave that out.</source>
   <translation>Bei diesem Modell sind Aufrufe beim Schreiben nicht von Text zu unterscheiden; seine Werkzeuge können deshalb weder streng noch auf einige beschränkt sein. Einen Aufruf verlangen oder das weglassen.</translation>
  </message>
  <message>
   <location filename="../../engine/turn/constrained.py" />
   <source>With this model's tokenizer no answer can be held to a form. Choose another model.</source>
   <translation>Mit dem Tokenizer dieses Modells lässt sich keine Antwort an eine Form binden. Wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>Write something into each message.</source>
   <translation>Schreiben Sie etwas in jede Nachricht.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>{1} The one before was closed to make room: open it again.</source>
   <translation>{1} Das vorige wurde geschlossen, um Platz zu schaffen: Öffnen Sie es wieder.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>{1} and {2} are made of other tokens, so the one cannot write ahead for the other. Choose a smaller model of the same family, or none.</source>
   <translation>{1} und {2} bestehen aus anderen Token, also kann das eine nicht für das andere vorausschreiben. Wählen Sie ein kleineres Modell derselben Familie, oder keines.</translation>
  </message>
  <message>
   <location filename="../../engine/models/from_folder.py" />
   <location filename="../../engine/models/from_gguf.py" />
   <source>{1} can be run in bf16 or fp32 only. Choose one of these number types.</source>
   <translation>{1} läuft nur in bf16 oder fp32. Wählen Sie eines dieser Zahlenformate.</translation>
  </message>
  <message>
   <location filename="../../engine/library/found.py" />
   <source>{1} cannot be deleted ({2}): check its permissions.</source>
   <translation>{1} kann nicht gelöscht werden ({2}): Prüfen Sie die Rechte.</translation>
  </message>
  <message>
   <location filename="../../engine/models/loaded.py" />
   <source>{1} cannot be opened as a chat model. Choose another model.</source>
   <translation>{1} kann nicht als Chat-Modell geöffnet werden. Wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>{1} cannot be reached, or the connection was cut: check the network and go on later. What was downloaded is kept.</source>
   <translation>{1} ist nicht erreichbar, oder die Verbindung brach ab: Prüfen Sie das Netzwerk, und machen Sie später weiter. Was heruntergeladen wurde, bleibt.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} cannot be read ({2}): check its permissions.</source>
   <translation>{1} ist nicht lesbar ({2}): Prüfen Sie die Rechte.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_files.py" />
   <source>{1} cannot be read. Check its permissions.</source>
   <translation>{1} kann nicht gelesen werden. Prüfen Sie die Rechte der Datei.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} cannot be read: it is no ordinary file. Put the model's own file in its place.</source>
   <translation>{1} ist nicht lesbar: Es ist keine gewöhnliche Datei. Setzen Sie die Datei des Modells an ihre Stelle.</translation>
  </message>
  <message>
   <location filename="../../app/history/errors.py" />
   <source>{1} cannot be written. Check its permissions and those of its folder.</source>
   <translation>{1} kann nicht geschrieben werden. Prüfen Sie die Rechte der Datei und ihres Ordners.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>{1} cannot be written. Choose another place.</source>
   <translation>{1} kann nicht geschrieben werden. Wählen Sie einen anderen Ort.</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>{1} cannot be written: check its permissions.</source>
   <translation>{1} kann nicht geschrieben werden: Prüfen Sie die Rechte.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>{1} cannot be written: it is no file. Move it away and start Headstart again.</source>
   <translation>{1} kann nicht geschrieben werden: Es ist keine Datei. Verschieben Sie es, und starten Sie Headstart neu.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>{1} cannot be written: your conversations can be read, and nothing new is stored. Check its permissions and those of its folder, and start Headstart again.</source>
   <translation>{1} kann nicht geschrieben werden: Ihre Unterhaltungen können gelesen werden, und nichts Neues wird gespeichert. Prüfen Sie die Rechte der Datei und ihres Ordners, und starten Sie Headstart neu.</translation>
  </message>
  <message>
   <location filename="../../engine/llama/checkpoint.py" />
   <location filename="../../engine/models/from_gguf.py" />
   <source>{1} changed while it was read: open it again when nothing writes to it.</source>
   <translation>{1} änderte sich, während es gelesen wurde: Öffnen Sie es noch einmal, wenn nichts mehr hineinschreibt.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>{1} checks one token at a time on this computer, so no small model can help it. Open it without one.</source>
   <translation>{1} prüft auf diesem Computer ein Token nach dem anderen, also kann ihm kein kleines Modell helfen. Öffnen Sie es ohne eines.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/reading.py" />
   <source>{1} could not be read: it is damaged or out of reach.</source>
   <translation>{1} konnte nicht gelesen werden: Es ist beschädigt oder nicht zugänglich.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <location filename="../../app/exchange/backup.py" />
   <source>{1} could not be read: {2}.</source>
   <translation>{1} konnte nicht gelesen werden: {2}.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/page.py" />
   <source>{1} could not be written: {2}.</source>
   <translation>{1} konnte nicht geschrieben werden: {2}.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>{1} does not answer as the Hub does: check whether the network wants a login, and HF_ENDPOINT where that is set. What was downloaded is kept.</source>
   <translation>{1} antwortet nicht wie der Hub: Prüfen Sie, ob das Netz eine Anmeldung verlangt, und HF_ENDPOINT, falls das gesetzt ist. Was geladen wurde, bleibt.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} has no config.json: put the model's config.json into the folder.</source>
   <translation>{1} hat keine config.json: Legen Sie die config.json des Modells in den Ordner.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>{1} has no file {2} any more: choose another model.</source>
   <translation>{1} hat keine Datei {2} mehr: Wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} has no safetensors files: download the model's *.safetensors into it.</source>
   <translation>{1} hat keine safetensors-Dateien: Laden Sie die *.safetensors des Modells dorthin herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} has no tokenizer: put the model's tokenizer.json into the folder.</source>
   <translation>{1} hat keinen Tokenizer: Legen Sie die tokenizer.json des Modells in den Ordner.</translation>
  </message>
  <message>
   <location filename="../../engine/weights/from_safetensors.py" />
   <source>{1} has weights that are no numbers: download it again.</source>
   <translation>{1} hat Gewichte, die keine Zahlen sind: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} has {2} MB; files of up to {3} MB are read.</source>
   <translation>{1} hat {2} MB; gelesen werden Dateien bis {3} MB.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} has {2} {3} and no text: they are pictures, as a scanner makes them. Give a PDF whose text can be selected.</source>
   <translation>{1} hat {2} Seiten und keinen Text: Es sind Bilder, wie ein Scanner sie macht. Geben Sie ein PDF an, dessen Text sich markieren lässt.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} holds an adapter{2} beside the model, which cannot be applied: merge it into the model, or move its two files, adapter_config.json and adapter_model, to another folder.</source>
   <translation>{1} enthält einen Adapter{2} neben dem Modell, der nicht angewendet werden kann: Vereinen Sie ihn mit dem Modell, oder verschieben Sie seine zwei Dateien, adapter_config.json und adapter_model, in einen anderen Ordner.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/reading.py" />
   <source>{1} holds no conversation with a text that can be read.</source>
   <translation>{1} enthält keine Unterhaltung mit lesbarem Text.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/reading.py" />
   <source>{1} holds no conversations that Headstart knows how to read. Exports of ChatGPT (the ZIP or conversations.json), LM Studio, Jan, Open WebUI and Headstart are read.</source>
   <translation>{1} enthält keine Unterhaltungen, die Headstart lesen kann. Gelesen werden Exporte von ChatGPT (das ZIP oder conversations.json), LM Studio, Jan, Open WebUI und Headstart.</translation>
  </message>
  <message>
   <location filename="../../engine/library/resolve.py" />
   <source>{1} holds no downloaded revision of its model: download it again.</source>
   <translation>{1} enthält keine heruntergeladene Revision seines Modells: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>{1} holds no model that Headstart reads: choose one with safetensors files or a GGUF file.</source>
   <translation>{1} enthält kein Modell, das Headstart liest: Wählen Sie eines mit safetensors-Dateien oder einer GGUF-Datei.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} holds no model. {2}.</source>
   <translation>{1} enthält kein Modell. {2}.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check_gguf.py" />
   <source>{1} holds no model: choose a GGUF file with the weights of a text model.</source>
   <translation>{1} enthält kein Modell: Wählen Sie eine GGUF-Datei mit den Gewichten eines Textmodells.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} holds no text that can be read. Text, Markdown, code, PDF, DOCX and HTML can be given.</source>
   <translation>{1} enthält keinen lesbaren Text. Angenommen werden Text, Markdown, Code, PDF, DOCX und HTML.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} holds no text, only pictures or empty pages.</source>
   <translation>{1} enthält keinen Text, nur Bilder oder leere Seiten.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} holds no text: a browser would show an empty page, or make it with a program.</source>
   <translation>{1} enthält keinen Text: Ein Browser zeigte eine leere Seite oder erzeugte sie mit einem Programm.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} holds weights only: open the folder it lies in, with config.json and the tokenizer.</source>
   <translation>{1} enthält nur Gewichte: Öffnen Sie den Ordner, in dem es liegt, mit config.json und dem Tokenizer.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>{1} holds {2} GGUF files: name one of them, as {3}/FILE.gguf.</source>
   <translation>{1} enthält {2} GGUF-Dateien: Nennen Sie eine davon, als {3}/DATEI.gguf.</translation>
  </message>
  <message>
   <location filename="../../engine/library/resolve.py" />
   <source>{1} holds {2} GGUF models: choose one of them.</source>
   <translation>{1} enthält {2} GGUF-Modelle: Wählen Sie eines davon.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} holds {2} characters, more than the {3} that can be taken in. Give a part of it.</source>
   <translation>{1} enthält {2} Zeichen, mehr als die {3}, die aufgenommen werden können. Geben Sie einen Teil davon an.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} in {2} begins with a byte order mark: save it as UTF-8 without one.</source>
   <translation>{1} in {2} beginnt mit einer Byte-Order-Mark: Speichern Sie es als UTF-8 ohne sie.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} in {2} has {3} MB, far more than a model needs: download it again.</source>
   <translation>{1} in {2} hat {3} MB, viel mehr, als ein Modell braucht: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} in {2} is damaged, or asks for more than any model needs: download it again.</source>
   <translation>{1} in {2} ist beschädigt oder verlangt mehr, als irgendein Modell braucht: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} in {2} is damaged: download it again.</source>
   <translation>{1} in {2} ist beschädigt: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} is a Git LFS pointer, not the weights: run `git lfs pull` in its folder.</source>
   <translation>{1} ist ein Verweis von Git LFS, nicht die Gewichte: Führen Sie in seinem Ordner `git lfs pull` aus.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is a folder. Give the files in it that are to be read.</source>
   <translation>{1} ist ein Ordner. Geben Sie die Dateien darin an, die gelesen werden sollen.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is a {2}, and only text is read: text, Markdown, code, PDF, DOCX or HTML.</source>
   <translation>{1} ist {2}, und gelesen wird nur Text: Text, Markdown, Code, PDF, DOCX oder HTML.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} is an adapter without its model: merge it into the model, then open that.</source>
   <translation>{1} ist ein Adapter ohne sein Modell: Vereinen Sie ihn mit dem Modell, und öffnen Sie dann das.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is an archive or another office file. Give the text in it, or a DOCX or PDF.</source>
   <translation>{1} ist ein Archiv oder eine andere Office-Datei. Geben Sie den Text darin an, oder ein DOCX oder PDF.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is an older office file, or one with a password. Save it as DOCX or PDF first.</source>
   <translation>{1} ist eine ältere Office-Datei oder hat ein Passwort. Speichern Sie sie zuerst als DOCX oder PDF.</translation>
  </message>
  <message>
   <location filename="../../engine/weights/from_safetensors.py" />
   <source>{1} is cut short: download it again.</source>
   <translation>{1} ist unvollständig: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} is cut short: {2} of {3} MB are there. Download it again.</source>
   <translation>{1} ist unvollständig: {2} von {3} MB sind da. Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>{1} is damaged and cannot be written. Move it elsewhere.</source>
   <translation>{1} ist beschädigt und kann nicht geschrieben werden. Verschieben Sie es anderswohin.</translation>
  </message>
  <message>
   <location filename="../../app/history/file.py" />
   <source>{1} is damaged and in the way. Move it elsewhere.</source>
   <translation>{1} ist beschädigt und im Weg. Verschieben Sie es anderswohin.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is damaged: it could not be read as DOCX.</source>
   <translation>{1} ist beschädigt: Es ließ sich nicht als DOCX lesen.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is damaged: it could not be read as HTML.</source>
   <translation>{1} ist beschädigt: Es ließ sich nicht als HTML lesen.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is damaged: it could not be read as PDF.</source>
   <translation>{1} ist beschädigt: Es ließ sich nicht als PDF lesen.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is empty, so there is nothing to read in it.</source>
   <translation>{1} ist leer, also gibt es darin nichts zu lesen.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/reading.py" />
   <source>{1} is larger than {2} MB. Export a part of it.</source>
   <translation>{1} ist größer als {2} MB. Exportieren Sie einen Teil davon.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/reading.py" />
   <source>{1} is no JSON file, or a damaged one.</source>
   <translation>{1} ist keine JSON-Datei, oder eine beschädigte.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/backup.py" />
   <location filename="../../app/history/copies.py" />
   <source>{1} is no backup of Headstart, or it is damaged.</source>
   <translation>{1} ist keine Sicherung von Headstart, oder sie ist beschädigt.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is no {2} but text, and was read as text.</source>
   <translation>{1} ist kein {2}, sondern Text, und wurde als Text gelesen.</translation>
  </message>
  <message>
   <location filename="../../engine/library/found.py" />
   <source>{1} is not Headstart's: delete it in the program that it belongs to.</source>
   <translation>{1} gehört nicht Headstart: Löschen Sie es in dem Programm, dem es gehört.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} is not a model. {2}.</source>
   <translation>{1} ist kein Modell. {2}.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check_gguf.py" />
   <source>{1} is not a readable GGUF file: download it again.</source>
   <translation>{1} ist keine lesbare GGUF-Datei: Laden Sie sie neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <location filename="../../engine/weights/from_safetensors.py" />
   <source>{1} is not a readable safetensors file: download it again.</source>
   <translation>{1} ist keine lesbare safetensors-Datei: Laden Sie sie neu herunter.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is not in UTF-8, so it was read as Windows-1252. Look whether its letters are right.</source>
   <translation>{1} ist nicht in UTF-8, also wurde es als Windows-1252 gelesen. Sehen Sie nach, ob die Buchstaben stimmen.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} is protected with a password. Save a copy without one and give that.</source>
   <translation>{1} ist mit einem Passwort geschützt. Speichern Sie eine Kopie ohne Passwort und geben Sie diese an.</translation>
  </message>
  <message>
   <location filename="../../engine/models/from_transformers.py" />
   <source>{1} is quantised ({2}), which cannot be computed on this computer: get the model as a GGUF file (Q4_K_M or Q8_0), or its folder in 16 bits.</source>
   <translation>{1} ist quantisiert ({2}), was auf diesem Computer nicht gerechnet werden kann: Besorgen Sie das Modell als GGUF-Datei (Q4_K_M oder Q8_0), oder seinen Ordner in 16 Bit.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>{1} is too large to write ahead for {2}: it would take longer than it saves. Choose a smaller one, or none.</source>
   <translation>{1} ist zu groß, um für {2} vorauszuschreiben: Es bräuchte länger, als es spart. Wählen Sie ein kleineres, oder keines.</translation>
  </message>
  <message>
   <location filename="../../engine/graphics.py" />
   <source>{1} is too old for torch.</source>
   <translation>{1} ist zu alt für Torch.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} keeps its weights as pickles only (.bin, .pt), and a pickle can run any program when it is opened: get the model's safetensors files, or a GGUF file.</source>
   <translation>{1} hat seine Gewichte nur als Pickle (.bin, .pt), und ein Pickle kann beim Öffnen jedes Programm ausführen: Besorgen Sie die safetensors-Dateien des Modells, oder eine GGUF-Datei.</translation>
  </message>
  <message>
   <location filename="../../engine/models/from_transformers.py" />
   <source>{1} lacks some of its weights. Download it again.</source>
   <translation>{1} fehlen einige seiner Gewichte. Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/graphics.py" />
   <source>{1} needs NVIDIA's driver {2} or newer, and {3} is installed.</source>
   <translation>{1} braucht NVIDIAs Treiber {2} oder einen neueren, und installiert ist {3}.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>{1} needs {2} GB more in {3}, and {4} GB are free: free some space, or set HEADSTART_DATA_DIR to a folder on another disk.</source>
   <translation>{1} braucht {2} GB mehr in {3}, und {4} GB sind frei: Schaffen Sie Platz, oder setzen Sie HEADSTART_DATA_DIR auf einen Ordner auf einer anderen Platte.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>{1} of {2} did not arrive as it is on the Hub (its checksum is another one), so it was deleted: download it again.</source>
   <translation>{1} von {2} kam nicht so an, wie es auf dem Hub ist (seine Prüfsumme ist eine andere), und wurde gelöscht: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/models/loaded.py" />
   <source>{1} reads {2} tokens only. Choose another model.</source>
   <translation>{1} liest nur {2} Token. Wählen Sie ein anderes Modell.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check_gguf.py" />
   <source>{1} says {2} for {3}, and the weights are too few: download it again.</source>
   <translation>{1} sagt {2} für {3}, und die Gewichte sind zu wenige: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../engine/library/check.py" />
   <source>{1} says {2} for {3}, which no model has: download it again.</source>
   <translation>{1} sagt {2} für {3}, was kein Modell hat: Laden Sie es neu herunter.</translation>
  </message>
  <message>
   <location filename="../../app/documents.py" />
   <source>{1} unpacks to over {2} MB, which is not read.</source>
   <translation>{1} wird ausgepackt größer als {2} MB; das wird nicht gelesen.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/reading.py" />
   <source>{1} was written by a newer Headstart. Update Headstart to read it.</source>
   <translation>{1} wurde von einem neueren Headstart geschrieben. Aktualisieren Sie Headstart, um es zu lesen.</translation>
  </message>
  <message>
   <location filename="../../engine/models/choice.py" />
   <source>{1} weights are for the CPU only. Choose 'auto' or bf16 on {2}.</source>
   <translation>{1}-Gewichte sind nur für die CPU. Wählen Sie „auto“ oder bf16 auf {2}.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>“{1}” is no name of a model on the Hub, {2}: check it.</source>
   <translation>„{1}“ ist kein Name eines Modells auf dem Hub, {2}: Prüfen Sie ihn.</translation>
  </message>
 </context>
</TS>
