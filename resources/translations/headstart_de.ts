<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
 <context>
  <name>headstart</name>
  <message>
   <location filename="../../app/words.py" />
   <source> ({count:,} from disk)</source>
   <translation> ({count:,} von der Platte)</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source> It is fetched again when it is opened.</source>
   <translation> Es wird neu geholt, wenn es geöffnet wird.</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source> Its licence is agreed to at {page_of}; a token is asked for.</source>
   <translation> Ihrer Lizenz wird unter {page_of} zugestimmt; nach einem Token wird gefragt.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source> and </source>
   <translation> und </translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source> and waited {seconds}</source>
   <translation> und wartete {seconds}</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source> each day</source>
   <translation> – jeden Tag</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source> of {size}</source>
   <translation> von {size}</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source> on disk</source>
   <translation> auf der Platte</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source> {count} could not be read.</source>
   <translation> {count} konnten nicht gelesen werden.</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source> {here:.0%}</source>
   <translation> {here:.0%}</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source> · near</source>
   <translation> · annähernd</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/window.py" />
   <source> · {tokens_below:,} tokens behind it</source>
   <translation> · {tokens_below:,} Token dahinter</translation>
  </message>
  <message>
   <location filename="../../app/exchange/writing.py" />
   <source>## System prompt</source>
   <translation>## System-Prompt</translation>
  </message>
  <message>
   <location filename="../../app/prices.py" />
   <source>${amount:,.2f}</source>
   <translation>{amount:,.2f} $</translation>
  </message>
  <message>
   <location filename="../../app/prices.py" />
   <source>${amount:.4f}</source>
   <translation>{amount:.4f} $</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Answer again</source>
   <translation>&amp;Neu antworten</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Back up everything…</source>
   <translation>Alles &amp;sichern…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Copy the newest answer</source>
   <translation>Neueste Antwort &amp;kopieren</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Default model</source>
   <translation>&amp;Standardmodell</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Delete conversation</source>
   <translation>Unterhaltung &amp;löschen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/view.py" />
   <source>&amp;Drop ({freed})</source>
   <translation>&amp;Verwerfen ({freed})</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Export conversation…</source>
   <translation>Unterhaltung &amp;exportieren…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;File this conversation</source>
   <translation>Diese Unterhaltung &amp;ablegen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Find in this conversation</source>
   <translation>In &amp;dieser Unterhaltung suchen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Forget what was read</source>
   <translation>Gelesenes &amp;vergessen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Help</source>
   <translation>&amp;Hilfe</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Import conversations…</source>
   <translation>Unterhaltungen &amp;importieren…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Keyboard shortcuts</source>
   <translation>&amp;Tastenkürzel</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Larger</source>
   <translation>&amp;Größer</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Longest conversation…</source>
   <translation>&amp;Längste Unterhaltung…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Model</source>
   <translation>M&amp;odell</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Models…</source>
   <translation>&amp;Modelle…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;New conversation</source>
   <translation>&amp;Neue Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/view.py" />
   <source>&amp;Pin, with all before it</source>
   <translation>&amp;Anheften, mit allem davor</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/view.py" />
   <source>&amp;Pin: not while it is {place} only</source>
   <translation>&amp;Anheften: nicht, solange es nur {place} liegt</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Preferences…</source>
   <translation>&amp;Einstellungen…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Quit</source>
   <translation>&amp;Beenden</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Remember what was read</source>
   <translation>Gelesenes &amp;merken</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Rename conversation</source>
   <translation>Unterhaltung &amp;umbenennen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Smaller</source>
   <translation>&amp;Kleiner</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;System prompt…</source>
   <translation>&amp;System-Prompt…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Tools…</source>
   <translation>&amp;Werkzeuge…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Usual size</source>
   <translation>Ü&amp;bliche Größe</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Versions of this conversation…</source>
   <translation>&amp;Fassungen dieser Unterhaltung…</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;View</source>
   <translation>&amp;Ansicht</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>&amp;Write a message</source>
   <translation>Na&amp;chricht schreiben</translation>
  </message>
  <message>
   <location filename="../../app/exchange/writing.py" />
   <source>*Asked for {name}:* `{arguments}`</source>
   <translation>*Rief {name} auf:* `{arguments}`</translation>
  </message>
  <message>
   <location filename="../../app/exchange/writing.py" />
   <source>*Attached: {title}*</source>
   <translation>*Angehängt: {title}*</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/prefix_card.py" />
   <source>+{hidden:,} more</source>
   <translation>+{hidden:,} weitere</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>, about {about_seconds} left</source>
   <translation>, noch etwa {about_seconds}</translation>
  </message>
  <message>
   <location filename="../../app/window/conversation_model.py" />
   <source>, and what {name} has in memory ({tokens}) is forgotten</source>
   <translation>, und was {name} im Speicher hat ({tokens}), wird vergessen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>, from disk</source>
   <translation>, von der Platte</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>, pinned</source>
   <translation>, angeheftet</translation>
  </message>
  <message>
   <location filename="../../app/composer/attaching.py" />
   <source>, read once in about {about_seconds}</source>
   <translation>, einmal gelesen in etwa {about_seconds}</translation>
  </message>
  <message>
   <location filename="../../app/composer/trimming.py" />
   <source>, which leaves {room:,} for the answer</source>
   <translation>, womit {room:,} für die Antwort bleiben</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>, with {ahead_tokens:,} read ahead,</source>
   <translation>, davon {ahead_tokens:,} vorausgelesen,</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>, with {count} behind it</source>
   <translation>, mit {count} dahinter</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>, {ahead_tokens:,} were read ahead</source>
   <translation>, {ahead_tokens:,} wurden vorausgelesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>, {size} dropped</source>
   <translation>, {size} verworfen</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>0 always takes the likeliest token; higher is more varied.</source>
   <translation>0 nimmt immer das wahrscheinlichste Token; höher ist abwechslungsreicher.</translation>
  </message>
  <message>
   <location filename="../../app/window/empty_state.py" />
   <source>1  Ask</source>
   <translation>1  Fragen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/editor.py" />
   <source>1 token</source>
   <translation>1 Token</translation>
  </message>
  <message>
   <location filename="../../app/window/empty_state.py" />
   <source>2  Ask again</source>
   <translation>2  Noch einmal fragen</translation>
  </message>
  <message>
   <location filename="../../app/window/empty_state.py" />
   <source>3  See why</source>
   <translation>3  Sehen, warum</translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/system_prompt/presets.py" />
   <source>; {count:,} were there already</source>
   <translation>
    <numerusform>; {count:,} war schon da</numerusform>
    <numerusform>; {count:,} waren schon da</numerusform>
   </translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>&lt; 1 min</source>
   <translation>&lt; 1 min</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>&lt; 10 min</source>
   <translation>&lt; 10 min</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>A command, or http://…</source>
   <translation>Ein Befehl, oder http://…</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>A conversation is remembered (warm) where at least half of its next prompt need not be read again. The seconds are an estimate of the wait for its next answer as the conversation stands, without your next message, which has to be read too.</source>
   <translation>Eine Unterhaltung ist gemerkt (warm), wenn mindestens die Hälfte ihres nächsten Prompts nicht erneut gelesen werden muss. Die Sekunden sind eine Schätzung der Wartezeit auf ihre nächste Antwort, so wie die Unterhaltung steht, ohne Ihre nächste Nachricht, die auch gelesen werden muss.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>A conversation keeps the date it began with; begin a new one for today's.</source>
   <translation>Eine Unterhaltung behält das Datum, mit dem sie begann; beginnen Sie für das heutige eine neue.</translation>
  </message>
  <message>
   <location filename="../../app/window/about.py" />
   <source>A desktop chat for local language models that never reads the same prompt twice, and shows what that saves.</source>
   <translation>Ein Desktop-Chat für lokale Sprachmodelle, der denselben Prompt nie zweimal liest und zeigt, was das spart.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>A larger budget, in Preferences, keeps more.</source>
   <translation>Ein größerer Speicher, in den Einstellungen, behält mehr.</translation>
  </message>
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
   <location filename="../../app/widgets/explain.py" />
   <source>A prompt that begins like something read before need not be read again up to where the two part. Only what comes behind is read.</source>
   <translation>Ein Prompt, der so beginnt wie etwas schon Gelesenes, muss bis dorthin, wo die beiden sich trennen, nicht erneut gelesen werden. Nur was danach kommt, wird gelesen.</translation>
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
   <location filename="../../app/window/server_dialog.py" />
   <source>A server with OpenAI's API: vLLM, SGLang, llama.cpp's server, another Headstart. Your conversations are sent to it. What it says of reuse is shown like that of this computer.</source>
   <translation>Ein Server mit der API von OpenAI: vLLM, SGLang, der Server von llama.cpp, ein anderes Headstart. Ihre Unterhaltungen werden an ihn gesendet. Was er über Wiederverwendung sagt, wird gezeigt wie das von diesem Computer.</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>A server's program runs with your rights: add only what you trust.</source>
   <translation>Das Programm eines Servers läuft mit Ihren Rechten: Fügen Sie nur hinzu, wem Sie vertrauen.</translation>
  </message>
  <message>
   <location filename="../../app/window/empty_state.py" />
   <source>A support bot with long rules reads them once. That takes some seconds.</source>
   <translation>Ein Support-Bot mit langen Regeln liest sie einmal. Das dauert einige Sekunden.</translation>
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
   <location filename="../../app/window/actions.py" />
   <source>About &amp;Headstart…</source>
   <translation>Über &amp;Headstart…</translation>
  </message>
  <message>
   <location filename="../../app/window/about.py" />
   <source>About Headstart</source>
   <translation>Über Headstart</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>About so many seconds</source>
   <translation>Etwa so viele Sekunden</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Above 0, what this answer has said already becomes less likely, however often it was said; below 0, likelier.</source>
   <translation>Über 0 wird unwahrscheinlicher, was diese Antwort schon gesagt hat, wie oft auch immer; unter 0 wahrscheinlicher.</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Above 0, what this answer has said becomes less likely with each time; below 0, likelier.</source>
   <translation>Über 0 wird, was diese Antwort gesagt hat, mit jedem Mal unwahrscheinlicher; unter 0 wahrscheinlicher.</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Above 1, what this answer has said already becomes less likely.</source>
   <translation>Über 1 wird unwahrscheinlicher, was diese Antwort schon gesagt hat.</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Add</source>
   <translation>Hinzufügen</translation>
  </message>
  <message>
   <location filename="../../app/window/header.py" />
   <source>Add a system prompt</source>
   <translation>System-Prompt hinzufügen</translation>
  </message>
  <message>
   <location filename="../../app/window/server_dialog.py" />
   <source>Address</source>
   <translation>Adresse</translation>
  </message>
  <message>
   <location filename="../../app/window/server_dialog.py" />
   <source>Address of the server</source>
   <translation>Adresse des Servers</translation>
  </message>
  <message>
   <location filename="../../app/charts/panel.py" />
   <source>All</source>
   <translation>Alle</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>All conversations</source>
   <translation>Alle Unterhaltungen</translation>
  </message>
  <message>
   <location filename="../../app/window/server_dialog.py" />
   <source>All others ask the model that is open. Without an address this conversation does so again, too.</source>
   <translation>Alle anderen fragen das geöffnete Modell. Ohne eine Adresse tut das auch diese Unterhaltung wieder.</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <location filename="../../app/window/tool_bar.py" />
   <location filename="../../app/window/tools_dialog.py" />
   <source>Always</source>
   <translation>Immer</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>An answer ends before one of these texts, which have commas between them; \n stands for a line break, \, for a comma. What such an answer wrote is made tokens anew with the next question, so that some of it may be read again.</source>
   <translation>Eine Antwort endet vor einem dieser Texte, zwischen denen Kommas stehen; \n steht für einen Zeilenumbruch, \, für ein Komma. Was eine solche Antwort schrieb, wird mit der nächsten Frage neu in Token zerlegt, sodass ein Teil davon erneut gelesen werden kann.</translation>
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
   <location filename="../../app/proof/proof.py" />
   <source>Another answer</source>
   <translation>Eine andere Antwort</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>Another model has read this before</source>
   <translation>Ein anderes Modell hat das zuvor gelesen</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Another model of the Hub</source>
   <translation>Ein anderes Modell vom Hub</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Another model of the Hub: ORG/NAME, or ORG/NAME/FILE.gguf</source>
   <translation>Ein anderes Modell vom Hub: ORG/NAME, oder ORG/NAME/DATEI.gguf</translation>
  </message>
  <message>
   <location filename="../../app/history/errors.py" />
   <source>Another program, perhaps a second Headstart, has the conversations open. Close it and try again.</source>
   <translation>Ein anderes Programm, vielleicht ein zweites Headstart, hat die Unterhaltungen geöffnet. Schließen Sie es, und versuchen Sie es noch einmal.</translation>
  </message>
  <message>
   <location filename="../../app/exchange/writing.py" />
   <location filename="../../app/transcript/answer_view.py" />
   <location filename="../../app/transcript/branches_dialog.py" />
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Answer</source>
   <translation>Antwort</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Answer &amp;other programs</source>
   <translation>Anderen Programmen ant&amp;worten</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Answer again</source>
   <translation>Neu antworten</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Answer this</source>
   <translation>Dies beantworten</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Answer this once more, remembering and from scratch</source>
   <translation>Noch einmal beantworten, mit Gemerktem und von vorn</translation>
  </message>
  <message>
   <location filename="../../app/window/header.py" />
   <source>Answered by {host}</source>
   <translation>Es antwortet {host}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>April</source>
   <translation>April</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>Arguments</source>
   <translation>Argumente</translation>
  </message>
  <message>
   <location filename="../../app/window/tool_bar.py" />
   <source>Arguments of the call</source>
   <translation>Argumente des Aufrufs</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>As it was sent</source>
   <translation>Wie gesendet</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>As long as nothing is changed here, a model begins as its makers advise.</source>
   <translation>Solange hier nichts geändert wird, beginnt ein Modell so, wie seine Hersteller raten.</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>As the model does by itself</source>
   <translation>Wie das Modell von sich aus</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>As the model's makers advise</source>
   <translation>Wie die Hersteller des Modells raten</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>As the system</source>
   <translation>Wie das System</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Ask</source>
   <translation>Fragen</translation>
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
   <location filename="../../app/window/tools_dialog.py" />
   <source>Ask me first</source>
   <translation>Mich zuerst fragen</translation>
  </message>
  <message>
   <location filename="../../app/window/tour.py" />
   <source>Ask the second question</source>
   <translation>Die zweite Frage stellen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Asked for</source>
   <translation>Aufgerufen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>Asked for {name}</source>
   <translation>Rief {name} auf</translation>
  </message>
  <message>
   <location filename="../../app/models/downloads.py" />
   <source>Asking the Hub…</source>
   <translation>Der Hub wird gefragt…</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>Asking the server</source>
   <translation>Der Server wird gefragt</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Asking the server…</source>
   <translation>Der Server wird gefragt…</translation>
  </message>
  <message>
   <location filename="../../app/window/updating.py" />
   <source>Asking {host}…</source>
   <translation>{host} wird gefragt…</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Attach</source>
   <translation>Anhängen</translation>
  </message>
  <message>
   <location filename="../../app/composer/attaching.py" />
   <location filename="../../app/composer/composer.py" />
   <source>Attach files</source>
   <translation>Dateien anhängen</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Attach text, Markdown, code, PDF, DOCX or HTML. Files can be dropped here, too.</source>
   <translation>Text, Markdown, Code, PDF, DOCX oder HTML anhängen. Dateien können auch hierher gezogen werden.</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>August</source>
   <translation>August</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Automatic ({context:,} tokens)</source>
   <translation>Automatisch ({context:,} Token)</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Back to the settings of new conversations</source>
   <translation>Zurück zu den Einstellungen neuer Unterhaltungen</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Back up everything</source>
   <translation>Alles sichern</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Backup (*.zip)</source>
   <translation>Sicherung (*.zip)</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Before a prompt is sent, its seconds are what reading should take, from how fast this model read here of late. Looking it up and choosing the first token come on top, so that the time measured is often longer.</source>
   <translation>Bevor ein Prompt gesendet wird, sagen die Sekunden, wie lange das Lesen dauern sollte, danach, wie schnell dieses Modell hier zuletzt las. Nachschlagen und die Wahl des ersten Tokens kommen hinzu, sodass die gemessene Zeit oft länger ist.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Behind the first answer the model writes a title. What it has read of the conversation is remembered, so that only the question for a title is read; a question of yours breaks it off.</source>
   <translation>Hinter der ersten Antwort schreibt das Modell einen Titel. Was es von der Unterhaltung gelesen hat, ist gemerkt, sodass nur die Frage nach dem Titel gelesen wird; eine Frage von Ihnen bricht das ab.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Blocks</source>
   <translation>Blöcke</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>Branch from here into a new conversation · nothing is read again</source>
   <translation>Von hier in eine neue Unterhaltung abzweigen · nichts wird erneut gelesen</translation>
  </message>
  <message>
   <location filename="../../app/window/shortcut_sheet.py" />
   <source>Break the line</source>
   <translation>Neue Zeile</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>C&amp;olours</source>
   <translation>&amp;Farben</translation>
  </message>
  <message>
   <location filename="../../app/charts/export.py" />
   <source>CSV table</source>
   <translation>CSV-Tabelle</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Cache keys and values in 8 bits</source>
   <translation>Schlüssel und Werte in 8 Bit merken</translation>
  </message>
  <message>
   <location filename="../../app/window/tool_bar.py" />
   <source>Call it once</source>
   <translation>Einmal aufrufen</translation>
  </message>
  <message>
   <location filename="../../app/window/tool_bar.py" />
   <source>Calling {shortened_line}…</source>
   <translation>{shortened_line} wird aufgerufen…</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <location filename="../../app/models/dialog.py" />
   <location filename="../../app/models/presenter.py" />
   <location filename="../../app/window/dialogs.py" />
   <location filename="../../app/window/exchanging.py" />
   <location filename="../../app/window/loading_bar.py" />
   <source>Cancel</source>
   <translation>Abbrechen</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Cancel editing</source>
   <translation>Bearbeiten abbrechen</translation>
  </message>
  <message>
   <location filename="../../app/window/loading_bar.py" />
   <source>Cancel loading the model</source>
   <translation>Das Laden des Modells abbrechen</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>Changes the prompt: {says}.</source>
   <translation>Ändert den Prompt: {says}.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/chat_template.py" />
   <source>Chat templates are read by a process of its own, which could not be started. Start Headstart again.</source>
   <translation>Chat-Vorlagen werden von einem eigenen Prozess gelesen, der nicht gestartet werden konnte. Starten Sie Headstart neu.</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Chat too long</source>
   <translation>Chat zu lang</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>Checking the default model</source>
   <translation>Das Standardmodell wird geprüft</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Choose a folder, or make one</source>
   <translation>Einen Ordner wählen oder anlegen</translation>
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
   <location filename="../../app/window/presenter.py" />
   <source>Choose the model that will answer; it runs on this computer.</source>
   <translation>Wählen Sie das Modell, das antworten soll; es läuft auf diesem Computer.</translation>
  </message>
  <message>
   <location filename="../../app/application.py" />
   <location filename="../../app/crash.py" />
   <location filename="../../app/models/dialog.py" />
   <location filename="../../app/proof/dialog.py" />
   <location filename="../../app/window/shortcut_sheet.py" />
   <source>Close</source>
   <translation>Schließen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/find_bar.py" />
   <source>Close (Esc)</source>
   <translation>Schließen (Esc)</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>Close Headstart and open it again to use it.</source>
   <translation>Schließen Sie Headstart und öffnen Sie es neu, um sie zu nutzen.</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>Close the proof</source>
   <translation>Die Prüfung schließen</translation>
  </message>
  <message>
   <location filename="../../app/window/notice_bar.py" />
   <source>Close this notice</source>
   <translation>Diese Meldung schließen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/window.py" />
   <source>Closer</source>
   <translation>Näher heran</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Colours</source>
   <translation>Farben</translation>
  </message>
  <message>
   <location filename="../../app/charts/card.py" />
   <source>Colours: </source>
   <translation>Farben: </translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Command or address of a server</source>
   <translation>Befehl oder Adresse eines Servers</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>Compute on the graphics card</source>
   <translation>Auf der Grafikkarte rechnen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Continue</source>
   <translation>Fortsetzen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Continue the ans&amp;wer</source>
   <translation>Antwort &amp;fortsetzen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/transcript.py" />
   <location filename="../../app/window/exchanging.py" />
   <location filename="../../app/window/open_model.py" />
   <source>Conversation</source>
   <translation>Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <location filename="../../app/window/filing_presenter.py" />
   <source>Conversations</source>
   <translation>Unterhaltungen</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Conversations (*.zip *.json *.jsonl *.headstart);;All files (*)</source>
   <translation>Unterhaltungen (*.zip *.json *.jsonl *.headstart);;Alle Dateien (*)</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Conversations and model</source>
   <translation>Unterhaltungen und Modell</translation>
  </message>
  <message>
   <location filename="../../app/own_data.py" />
   <source>Conversations and saved system prompts</source>
   <translation>Unterhaltungen und gespeicherte System-Prompts</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Conversations are being imported. Wait for their end first.</source>
   <translation>Unterhaltungen werden gerade importiert. Warten Sie zuerst das Ende ab.</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Conversations, saved system prompts and settings were written to {path}. Models are not in it.</source>
   <translation>Unterhaltungen, gespeicherte System-Prompts und Einstellungen wurden in {path} geschrieben. Modelle sind nicht darin.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/answer_view.py" />
   <location filename="../../app/window/notice_bar.py" />
   <source>Copied</source>
   <translation>Kopiert</translation>
  </message>
  <message>
   <location filename="../../app/transcript/answer_view.py" />
   <source>Copy</source>
   <translation>Kopieren</translation>
  </message>
  <message>
   <location filename="../../app/crash.py" />
   <location filename="../../app/window/notice_bar.py" />
   <source>Copy details</source>
   <translation>Einzelheiten kopieren</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Copy this answer</source>
   <translation>Diese Antwort kopieren</translation>
  </message>
  <message>
   <location filename="../../app/transcript/answer_view.py" />
   <source>Copy this code</source>
   <translation>Diesen Code kopieren</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Copy this question</source>
   <translation>Diese Frage kopieren</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Dark</source>
   <translation>Dunkel</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>December</source>
   <translation>Dezember</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <location filename="../../app/widgets/conversation_list.py" />
   <source>Delete</source>
   <translation>Löschen</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source>Delete a model</source>
   <translation>Ein Modell löschen</translation>
  </message>
  <message>
   <location filename="../../app/window/dialogs.py" />
   <source>Delete all my data</source>
   <translation>Alle meine Daten löschen</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Delete all my data…</source>
   <translation>Alle meine Daten löschen…</translation>
  </message>
  <message>
   <location filename="../../app/window/dialogs.py" />
   <source>Delete and close</source>
   <translation>Löschen und schließen</translation>
  </message>
  <message>
   <location filename="../../app/window/dialogs.py" />
   <source>Delete everything that Headstart keeps on this computer, {total} in all?</source>
   <translation>Alles löschen, was Headstart auf diesem Computer behält, zusammen {total}?</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>Delete this</source>
   <translation>Dies löschen</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>Delete this answer</source>
   <translation>Diese Antwort löschen</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Delete this folder, keep its conversations</source>
   <translation>Diesen Ordner löschen, seine Unterhaltungen behalten</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>Delete this question and its answers</source>
   <translation>Diese Frage und ihre Antworten löschen</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source>Delete {name} from this computer?</source>
   <translation>{name} von diesem Computer löschen?</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source>Delete {size}</source>
   <translation>{size} löschen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>Deleted conversation</source>
   <translation>Gelöschte Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>Deleted.</source>
   <translation>Gelöscht.</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Delete…</source>
   <translation>Löschen…</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <location filename="../../app/widgets/message_box.py" />
   <source>Details</source>
   <translation>Einzelheiten</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Device</source>
   <translation>Gerät</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/editor.py" />
   <source>Discard</source>
   <translation>Verwerfen</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Download</source>
   <translation>Herunterladen</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Download it</source>
   <translation>Herunterladen</translation>
  </message>
  <message>
   <location filename="../../engine/library/download.py" />
   <source>Downloading the default model</source>
   <translation>Das Standardmodell wird heruntergeladen</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Dropped (evicted)</source>
   <translation>Verworfen (verdrängt)</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Drops tokens less likely than this share of the likeliest; 0 drops none.</source>
   <translation>Verwirft Token, die weniger wahrscheinlich sind als dieser Anteil des wahrscheinlichsten; 0 verwirft keine.</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Duplicate</source>
   <translation>Duplizieren</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Each bar is the prompt of one turn: the blue part was remembered, the orange part on top was read. A tall orange part in the middle of a conversation says that something early in the prompt changed.</source>
   <translation>Jeder Balken ist der Prompt einer Runde: Der blaue Teil war gemerkt, der orange Teil darüber wurde gelesen. Ein hoher oranger Teil mitten in einer Unterhaltung sagt, dass sich vorn im Prompt etwas geändert hat.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Each bar is the wait for the first word of one turn: blue where most of its prompt was remembered, grey where it was read from scratch. The light bar behind it is what that turn would have taken from scratch.</source>
   <translation>Jeder Balken ist die Wartezeit auf das erste Wort einer Runde: blau, wo das meiste ihres Prompts gemerkt war, grau, wo er von vorn gelesen wurde. Der helle Balken dahinter zeigt, wie lange diese Runde von vorn gedauert hätte.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Each cell is 16 tokens, or more in a long prompt, of what Send would hand to the model, from first to last. Cells with a line through their foot are kept, plain ones are remembered, those with a line through their head were read ahead while you wrote, hollow ones with a bar are remembered on disk, hollow ones without were sent to the server before, tall ones must be read, crossed ones are more than the model reads, and dashes are room left.</source>
   <translation>Jede Zelle steht für 16 Token, in einem langen Prompt für mehr, von dem, was Senden dem Modell gäbe, vom ersten bis zum letzten. Zellen mit einem Strich am Fuß sind behalten, einfache sind gemerkt, die mit einem Strich am Kopf wurden vorausgelesen, während Sie schrieben, hohle mit einem Balken sind auf der Platte gemerkt, hohle ohne Balken wurden dem Server schon gesendet, große müssen gelesen werden, durchgestrichene sind mehr, als das Modell liest, und Striche sind freier Platz.</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>Earlier thoughts are given back to the model, where its chat template would drop them.</source>
   <translation>Frühere Gedanken werden dem Modell wiedergegeben, wo seine Chat-Vorlage sie wegließe.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Edit this answer</source>
   <translation>Diese Antwort bearbeiten</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Edit this question</source>
   <translation>Diese Frage bearbeiten</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Editing an answer. It becomes another version, which can go on from its last word; the old one is kept.</source>
   <translation>Eine Antwort wird bearbeitet. Es entsteht eine weitere Fassung, die nach ihrem letzten Wort weitergehen kann; die alte bleibt.</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Editing an earlier question. Sending starts a new branch; the old one is kept.</source>
   <translation>Eine frühere Frage wird bearbeitet. Senden beginnt einen neuen Zweig; der alte bleibt.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Ended</source>
   <translation>Beendet</translation>
  </message>
  <message>
   <location filename="../../app/window/shortcut_sheet.py" />
   <source>Enter</source>
   <translation>Eingabe</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/window.py" />
   <source>Enter or double click opens · P pins or unpins · Delete drops · + − 0 zoom</source>
   <translation>Eingabe oder Doppelklick öffnet · P heftet an oder löst · Entf verwirft · + − 0 Größe</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Enter sends, Shift+Enter breaks the line, Escape stops the answer</source>
   <translation>Eingabe sendet, Umschalt+Eingabe beginnt eine neue Zeile, Esc hält die Antwort an</translation>
  </message>
  <message>
   <location filename="../../app/window/notice_bar.py" />
   <source>Error: {sentence}</source>
   <translation>Fehler: {sentence}</translation>
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
   <location filename="../../app/widgets/explain.py" />
   <source>Everything that is remembered as a tree: conversations that begin alike share a stem and part where they differ. Each piece is called by its own first words; a hollow one with a bar is on disk only. Widths are not to scale: a piece grows by one step each time its tokens double, and says how many it has.</source>
   <translation>Alles Gemerkte als Baum: Unterhaltungen, die gleich beginnen, teilen sich einen Stamm und trennen sich, wo sie sich unterscheiden. Jedes Stück heißt nach seinen ersten eigenen Worten; ein hohles mit einem Balken liegt nur auf der Platte. Breiten sind nicht maßstäblich: Ein Stück wächst um eine Stufe, sooft sich seine Token verdoppeln, und sagt, wie viele es hat.</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/prefix_card.py" />
   <source>Everything that is remembered, live (Ctrl+T)</source>
   <translation>Alles Gemerkte, laufend (Strg+T)</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>Evicted from token {position} on</source>
   <translation>Ab Token {position} verdrängt</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Export presets</source>
   <translation>Vorlagen exportieren</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Export this conversation</source>
   <translation>Diese Unterhaltung exportieren</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Export, &amp;import, backup</source>
   <translation>Ex&amp;port, Import, Sicherung</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Export…</source>
   <translation>Exportieren…</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/window.py" />
   <source>Farther</source>
   <translation>Weiter weg</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Fastest there is</source>
   <translation>Das Schnellste</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>February</source>
   <translation>Februar</translation>
  </message>
  <message>
   <location filename="../../engine/runtimes/install.py" />
   <source>Fetching the program that installs it</source>
   <translation>Das Installationsprogramm wird geholt</translation>
  </message>
  <message>
   <location filename="../../app/composer/attaching.py" />
   <source>Files go with questions, not with an answer. Save it or cancel, then attach them to your next question.</source>
   <translation>Dateien gehören zu Fragen, nicht zu einer Antwort. Speichern Sie sie oder brechen Sie ab, und hängen Sie die Dateien an Ihre nächste Frage an.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>Fill in at each turn</source>
   <translation>In jeder Runde ausfüllen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Find a conversati&amp;on</source>
   <translation>Eine Unterhaltung s&amp;uchen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/find_bar.py" />
   <source>Find in this conversation</source>
   <translation>In dieser Unterhaltung suchen</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>First run: remembering</source>
   <translation>Erster Lauf: mit Gemerktem</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/widgets/explain.py" />
   <source>First word</source>
   <translation>Erstes Wort</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>First word (time to first token)</source>
   <translation>Erstes Wort (Zeit bis zum ersten Token)</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>First word after</source>
   <translation>Erstes Wort nach</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>First word after {seconds}</source>
   <translation>Erstes Wort nach {seconds}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>First word after {time}</source>
   <translation>Erstes Wort nach {time}</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/window.py" />
   <source>Fit</source>
   <translation>Einpassen</translation>
  </message>
  <message>
   <location filename="../../app/charts/card.py" />
   <source>Fold this part</source>
   <translation>Diesen Teil einklappen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/fold.py" />
   <source>Folded; Enter opens it</source>
   <translation>Eingeklappt; Eingabe öffnet es</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Folder</source>
   <translation>Ordner</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Folder or GGUF file of the model; empty for the default model.</source>
   <translation>Ordner oder GGUF-Datei des Modells; leer für das Standardmodell.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Folder, variables, read it now</source>
   <translation>Ordner, Variablen, jetzt lesen</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Folder: {name}</source>
   <translation>Ordner: {name}</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/editor.py" />
   <source>For instance: You are the support assistant of a parcel service.</source>
   <translation>Zum Beispiel: Sie sind der Support-Assistent eines Paketdienstes.</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>For this conversation</source>
   <translation>Für diese Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/window/server_dialog.py" />
   <source>For this conversation only</source>
   <translation>Nur für diese Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>For what was read of your prompts: the more, the more conversations go on without reading again. Automatic chooses by what is free.</source>
   <translation>Für das, was von Ihren Prompts gelesen wurde: je mehr, desto mehr Unterhaltungen gehen ohne erneutes Lesen weiter. Automatisch richtet sich nach dem, was frei ist.</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Free</source>
   <translation>Frei</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>Free: the context has room for {free:,} more tokens</source>
   <translation>Frei: Der Kontext hat Platz für {free:,} weitere Token</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>Freeze for this conversation</source>
   <translation>Für diese Unterhaltung einfrieren</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>Freeze {shown} for this conversation</source>
   <translation>{shown} für diese Unterhaltung einfrieren</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Frequency penalty</source>
   <translation>Malus für Häufigkeit</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>From</source>
   <translation>Von</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>From disk</source>
   <translation>Von der Platte</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>From scratch</source>
   <translation>Von vorn</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>From scratch (cold)</source>
   <translation>Von vorn (kalt)</translation>
  </message>
  <message>
   <location filename="../../app/window/dialogs.py" />
   <source>GGUF models (*.gguf)</source>
   <translation>GGUF-Modelle (*.gguf)</translation>
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
   <location filename="../../app/window/exchanging.py" />
   <source>Go back to what is in {name}?</source>
   <translation>Zurück zu dem, was in {name} ist?</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Go on</source>
   <translation>Weiter</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Go on with this answer, which was cut off</source>
   <translation>Diese abgebrochene Antwort fortsetzen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/editor.py" />
   <source>Go on writing</source>
   <translation>Weiterschreiben</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>Go there, {place}</source>
   <translation>Dorthin gehen, {place}</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>Graphics card</source>
   <translation>Grafikkarte</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Greedy</source>
   <translation>Wahrscheinlichstes</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Guess the next words of an answer from what was said before, and check several at once: names, quotations and code come sooner. Answers are the same.</source>
   <translation>Die nächsten Wörter einer Antwort aus dem raten, was schon gesagt wurde, und mehrere auf einmal prüfen: Namen, Zitate und Code kommen früher. Antworten sind dieselben.</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Have the model write a title</source>
   <translation>Das Modell einen Titel schreiben lassen</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Have the model write titles</source>
   <translation>Das Modell Titel schreiben lassen</translation>
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
   <location filename="../../app/window/updating.py" />
   <source>Headstart {own} is the newest version.</source>
   <translation>Headstart {own} ist die neueste Version.</translation>
  </message>
  <message>
   <location filename="../../app/window/updating.py" />
   <source>Headstart {version} is there; this is {own}.</source>
   <translation>Headstart {version} ist da; dies ist {own}.</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Headstart, with all branches (*.headstart)</source>
   <translation>Headstart, mit allen Zweigen (*.headstart)</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>Here answers are only near: {near}</source>
   <translation>Antworten sind hier nur annähernd gleich: {near}</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>How far the download is</source>
   <translation>Wie weit das Herunterladen ist</translation>
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
   <location filename="../../app/window/preferences.py" />
   <source>How much this changes answers was not measured.</source>
   <translation>Wie sehr das Antworten verändert, wurde nicht gemessen.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>How soon its first word came, what that would have taken from scratch, and how much of the prompt was remembered. “Details” shows the figures: tokens remembered, read, and written in the answer.</source>
   <translation>Wie bald ihr erstes Wort kam, wie lange es von vorn gedauert hätte und wie viel vom Prompt gemerkt war. „Einzelheiten“ zeigt die Zahlen: gemerkte und gelesene Token, und die der Antwort.</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>How the makers of this model advise to sample</source>
   <translation>Wie die Hersteller dieses Modells zu würfeln raten</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>How the next token is chosen</source>
   <translation>Wie das nächste Token gewählt wird</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>How the prompt is made</source>
   <translation>Wie der Prompt entsteht</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>How this conversation is answered</source>
   <translation>Wie in dieser Unterhaltung geantwortet wird</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>How tokens are chosen in new conversations. As long as nothing is changed here, a model begins as its makers advise.</source>
   <translation>Wie in neuen Unterhaltungen Token gewählt werden. Solange hier nichts geändert wird, beginnt ein Modell so, wie seine Hersteller raten.</translation>
  </message>
  <message>
   <location filename="../../app/window/reuse_presenter.py" />
   <source>If you change {ordinal_place}</source>
   <translation>Bei einer Änderung in {ordinal_place}</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Import conversations</source>
   <translation>Unterhaltungen importieren</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Import presets</source>
   <translation>Vorlagen importieren</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Import…</source>
   <translation>Importieren…</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>In all</source>
   <translation>Zusammen</translation>
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
   <location filename="../../app/models/dialog.py" />
   <source>In memory</source>
   <translation>Im Speicher</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>In the first question</source>
   <translation>In die erste Frage</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>In the system prompt it can be frozen, or moved to the newest message.</source>
   <translation>Im System-Prompt kann es eingefroren oder zur neuesten Nachricht verschoben werden.</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>Install</source>
   <translation>Installieren</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>Installing…</source>
   <translation>Wird installiert…</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>It belongs to {origin}, which may delete it; Headstart uses it where it lies.</source>
   <translation>Es gehört zu {origin}, das es löschen kann; Headstart nutzt es, wo es liegt.</translation>
  </message>
  <message>
   <location filename="../../app/proof/presenter.py" />
   <source>It could not be run</source>
   <translation>Es ließ sich nicht ausführen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>It is filled in once and stays. Other conversations fill it in anew.</source>
   <translation>Es wird einmal ausgefüllt und bleibt. Andere Unterhaltungen füllen es neu aus.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>It is filled in with the value of the moment whenever a question is sent.</source>
   <translation>Es wird mit dem Wert des Augenblicks ausgefüllt, sooft eine Frage gesendet wird.</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>It is installed. {next_start}</source>
   <translation>Sie ist installiert. {next_start}</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>It is read while nothing is asked.</source>
   <translation>Es wird gelesen, während nichts gefragt wird.</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>It is removed. The processor computes from the next start on.</source>
   <translation>Sie ist entfernt. Ab dem nächsten Start rechnet der Prozessor.</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/chat_template.py" />
   <source>It knows no such choice: leave it out.</source>
   <translation>Es kennt diese Wahl nicht: Lassen Sie sie weg.</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>It reads everything once.
The next answer starts at once.</source>
   <translation>Es liest alles einmal.
Die nächste Antwort beginnt sofort.</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>It reads {context:,} tokens. Licence: {licence}. Figures are about those of {as_of}.</source>
   <translation>Es liest {context:,} Token. Lizenz: {licence}. Die Zahlen sind etwa die von {as_of}.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/editor.py" />
   <source>It stands before every message of this conversation. It is read once and kept; after a change everything from the changed place on is read again. {{date}}, {{time}}, {{datetime}}, {{weekday}} and {{uuid}} are filled in when a question is sent.</source>
   <translation>Er steht vor jeder Nachricht dieser Unterhaltung. Er wird einmal gelesen und behalten; nach einer Änderung wird alles ab der geänderten Stelle erneut gelesen. {{date}}, {{time}}, {{datetime}}, {{weekday}} und {{uuid}} werden ausgefüllt, wenn eine Frage gesendet wird.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>It then stands at the end of each new question.</source>
   <translation>Es steht dann am Ende jeder neuen Frage.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>It then stands at the same place in each prompt.</source>
   <translation>Er steht dann in jedem Prompt an derselben Stelle.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>It then stays as it was sent last.</source>
   <translation>Es bleibt dann, wie es zuletzt gesendet wurde.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>Its next prompt would have {tokens}: more than this model reads.</source>
   <translation>Ihr nächster Prompt hätte {tokens}: mehr, als dieses Modell liest.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Its prompt</source>
   <translation>Ihr Prompt</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>Its value stands at the end of each new question, and the system prompt stays the same.</source>
   <translation>Sein Wert steht am Ende jeder neuen Frage, und der System-Prompt bleibt gleich.</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>January</source>
   <translation>Januar</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>July</source>
   <translation>Juli</translation>
  </message>
  <message>
   <location filename="../../app/transcript/transcript.py" />
   <source>Jump to the newest message</source>
   <translation>Zur neuesten Nachricht springen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>June</source>
   <translation>Juni</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>Just start writing.</source>
   <translation>Einfach losschreiben.</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Keep a start of a prompt for up to {1} seconds, and count messages and characters from 0.</source>
   <translation>Behalten Sie den Anfang eines Prompts bis zu {1} Sekunden, und zählen Sie Nachrichten und Zeichen ab 0.</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Keep at the top</source>
   <translation>Oben behalten</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>Keep in the history</source>
   <translation>Im Verlauf behalten</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Keep it and go on</source>
   <translation>Behalten und weiter</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <location filename="../../app/system_prompt/presets.py" />
   <source>Keep it resident</source>
   <translation>Im Speicher behalten</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Keep keys and values in 8 or 16 bits; {1} is neither.</source>
   <translation>Behalten Sie Schlüssel und Werte in 8 oder 16 Bit; {1} ist keines von beiden.</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Keep no longer at the top</source>
   <translation>Nicht mehr oben behalten</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Keep on disk</source>
   <translation>Auf Platte</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>Keep the system prompt in the first question</source>
   <translation>Den System-Prompt in der ersten Frage behalten</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>Keep them the same from turn to turn.</source>
   <translation>Lassen Sie sie von Runde zu Runde gleich.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Keep these values in the preset, and ask no more</source>
   <translation>Diese Werte in der Vorlage behalten und nicht mehr fragen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>Keep thoughts in the history</source>
   <translation>Gedanken im Verlauf behalten</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Keeps the likeliest tokens that together have this share; 1 keeps all.</source>
   <translation>Behält die wahrscheinlichsten Token, die zusammen diesen Anteil haben; 1 behält alle.</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Keeps this many of the likeliest tokens; 0 keeps all.</source>
   <translation>Behält so viele der wahrscheinlichsten Token; 0 behält alle.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Kept (pinned)</source>
   <translation>Behalten (angeheftet)</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Kept at the top</source>
   <translation>Oben behalten</translation>
  </message>
  <message>
   <location filename="../../app/window/server_dialog.py" />
   <source>Key</source>
   <translation>Schlüssel</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Key of a server at an address</source>
   <translation>Schlüssel eines Servers unter einer Adresse</translation>
  </message>
  <message>
   <location filename="../../app/window/server_dialog.py" />
   <source>Key of the server</source>
   <translation>Schlüssel des Servers</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Key, if any</source>
   <translation>Schlüssel, falls nötig</translation>
  </message>
  <message>
   <location filename="../../app/window/shortcut_sheet.py" />
   <source>Keyboard shortcuts</source>
   <translation>Tastenkürzel</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Language</source>
   <translation>Sprache</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Larger text</source>
   <translation>Größerer Text</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>Last used</source>
   <translation>Zuletzt gebraucht</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Leave out its oldest turns</source>
   <translation>Älteste Runden weglassen</translation>
  </message>
  <message>
   <location filename="../../app/composer/trimming.py" />
   <source>Leave them out and send</source>
   <translation>Weglassen und senden</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Length</source>
   <translation>Länge</translation>
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
   <location filename="../../app/models/dialog.py" />
   <location filename="../../app/window/about.py" />
   <source>Licence</source>
   <translation>Lizenz</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Light</source>
   <translation>Hell</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <location filename="../../app/window/loading_bar.py" />
   <location filename="../../engine/worker/loading.py" />
   <location filename="../../engine/worker/thread.py" />
   <source>Loading the model</source>
   <translation>Das Modell wird geladen</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>Loading was stopped. {stays}</source>
   <translation>Das Laden wurde abgebrochen. {stays}</translation>
  </message>
  <message>
   <location filename="../../app/own_data.py" />
   <source>Log files</source>
   <translation>Protokolldateien</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Longest conversation</source>
   <translation>Längste Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/window/about.py" />
   <source>Look for a newer version</source>
   <translation>Nach einer neueren Version suchen</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Look for a newer version at each start</source>
   <translation>Bei jedem Start nach einer neueren Version suchen</translation>
  </message>
  <message>
   <location filename="../../app/window/shortcut_sheet.py" />
   <source>Look through the prompt, a chart, the tree</source>
   <translation>Durch den Prompt, ein Diagramm, den Baum gehen</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Looking at the model…</source>
   <translation>Das Modell wird angesehen…</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>Looking for a graphics card…</source>
   <translation>Eine Grafikkarte wird gesucht…</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Looking for models…</source>
   <translation>Modelle werden gesucht…</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Makers' advice</source>
   <translation>Rat der Hersteller</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>March</source>
   <translation>März</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Markdown (*.md)</source>
   <translation>Markdown (*.md)</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>May</source>
   <translation>Mai</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Measure at load</source>
   <translation>Beim Laden messen</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>Measuring the reading speed</source>
   <translation>Die Lesegeschwindigkeit wird gemessen</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/widgets/explain.py" />
   <location filename="../../app/window/preferences.py" />
   <source>Memory</source>
   <translation>Speicher</translation>
  </message>
  <message>
   <location filename="../../engine/worker/loading.py" />
   <source>Memory is short: the model before was closed, loading again</source>
   <translation>Der Speicher ist knapp: Das vorige Modell wurde geschlossen, es wird noch einmal geladen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <location filename="../../app/window/header.py" />
   <source>Menu</source>
   <translation>Menü</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <location filename="../../app/transcript/branches_dialog.py" />
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Message</source>
   <translation>Nachricht</translation>
  </message>
  <message>
   <location filename="../../app/transcript/branches_dialog.py" />
   <source>Messages below each other follow each other; where there are versions, what follows each is within it.</source>
   <translation>Untereinander stehende Nachrichten folgen aufeinander; wo es Fassungen gibt, steht in jeder, was auf sie folgt.</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Min-p</source>
   <translation>Min-p</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Model</source>
   <translation>Modell</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Model: {parts}</source>
   <translation>Modell: {parts}</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Models</source>
   <translation>Modelle</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Models on this computer</source>
   <translation>Modelle auf diesem Computer</translation>
  </message>
  <message>
   <location filename="../../app/own_data.py" />
   <source>Models that Headstart fetched or converted</source>
   <translation>Modelle, die Headstart geholt oder umgewandelt hat</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Models that were opened, the newest first, one on a line.</source>
   <translation>Geöffnete Modelle, das neueste zuerst, je eines in einer Zeile.</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Models to download</source>
   <translation>Modelle zum Herunterladen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>More…</source>
   <translation>Mehr…</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Move to a folder</source>
   <translation>In einen Ordner legen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>Move to the newest message</source>
   <translation>Zur neuesten Nachricht verschieben</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>Move {shown} to the newest message</source>
   <translation>{shown} zur neuesten Nachricht verschieben</translation>
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
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Name of a new preset</source>
   <translation>Name einer neuen Vorlage</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Name of the folder</source>
   <translation>Name des Ordners</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Names of the charts that are folded, with commas between them.</source>
   <translation>Namen der eingeklappten Diagramme, mit Kommas dazwischen.</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <location filename="../../app/window/tool_bar.py" />
   <location filename="../../app/window/tools_dialog.py" />
   <source>Never</source>
   <translation>Nie</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>New</source>
   <translation>Neu</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <location filename="../../app/window/presenter.py" />
   <source>New conversation</source>
   <translation>Neue Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>New conversation ({tostring})</source>
   <translation>Neue Unterhaltung ({tostring})</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>New conversations begin with these settings, too</source>
   <translation>Auch neue Unterhaltungen beginnen mit diesen Einstellungen</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>New folder</source>
   <translation>Neuer Ordner</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <location filename="../../app/window/filing_presenter.py" />
   <source>New folder…</source>
   <translation>Neuer Ordner…</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>New name</source>
   <translation>Neuer Name</translation>
  </message>
  <message>
   <location filename="../../app/transcript/transcript.py" />
   <source>Newest</source>
   <translation>Neueste</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Newest &amp;answer</source>
   <translation>Neueste An&amp;twort</translation>
  </message>
  <message>
   <location filename="../../app/charts/panel.py" />
   <source>Newest answer</source>
   <translation>Neueste Antwort</translation>
  </message>
  <message>
   <location filename="../../app/widgets/next_prompt.py" />
   <source>Next prompt</source>
   <translation>Nächster Prompt</translation>
  </message>
  <message>
   <location filename="../../engine/turn/choosing.py" />
   <source>No answer of this model can be held to a call: its chat template writes calls in a form of its own. Leave the choice of tools to the model, or choose another one.</source>
   <translation>Keine Antwort dieses Modells lässt sich an einen Aufruf binden: Seine Chat-Vorlage schreibt Aufrufe in eigener Form. Überlassen Sie dem Modell die Wahl der Werkzeuge, oder wählen Sie ein anderes.</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>No conversation holds “{searched}”.</source>
   <translation>Keine Unterhaltung enthält „{searched}“.</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>No model</source>
   <translation>Kein Modell</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>No model is here yet. “To download” has some, and “Open model folder…” in the model menu opens others.</source>
   <translation>Noch ist kein Modell hier. Unter „Zum Herunterladen“ sind einige, und „Modellordner öffnen…“ im Menü des Modells öffnet andere.</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>No model is loaded. Open a model first.</source>
   <translation>Es ist kein Modell geladen. Öffnen Sie zuerst ein Modell.</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>No model is open</source>
   <translation>Kein Modell ist geöffnet</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>No model is open here that could read it now; it is read once one is.</source>
   <translation>Hier ist kein Modell geöffnet, das es jetzt lesen könnte; es wird gelesen, sobald eines geöffnet ist.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>No preset is called “{text_}”.</source>
   <translation>Keine Vorlage heißt „{text_}“.</translation>
  </message>
  <message>
   <location filename="../../engine/remote/engine.py" />
   <source>No server is chosen. Open one first.</source>
   <translation>Es ist kein Server gewählt. Öffnen Sie zuerst einen.</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>No small model</source>
   <translation>Kein kleines Modell</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>No sooner this time</source>
   <translation>Diesmal nicht früher</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>No tool is called {1}, so it cannot be called: send it with the tools.</source>
   <translation>Kein Werkzeug heißt {1}, also kann es nicht aufgerufen werden: Senden Sie es mit den Werkzeugen.</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <location filename="../../app/system_prompt/presets.py" />
   <location filename="../../app/window/preferences.py" />
   <location filename="../../app/window/server_dialog.py" />
   <source>None</source>
   <translation>Nichts</translation>
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
   <location filename="../../app/transcript/find_bar.py" />
   <source>Not found</source>
   <translation>Nicht gefunden</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Not on battery</source>
   <translation>Nicht im Akkubetrieb</translation>
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
   <location filename="../../app/proof/presenter.py" />
   <source>Nothing is proved yet. Run it once more for that.</source>
   <translation>Noch ist nichts geprüft. Lassen Sie es dazu noch einmal laufen.</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/prefix_card.py" />
   <location filename="../../app/charts/tree/words.py" />
   <source>Nothing is remembered yet.</source>
   <translation>Noch ist nichts gemerkt.</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/view.py" />
   <source>Nothing is remembered yet. Send a message, and what it shares with others appears here.</source>
   <translation>Noch ist nichts gemerkt. Senden Sie eine Nachricht, dann erscheint hier, was sie mit anderen teilt.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>Nothing is reused</source>
   <translation>Nichts wird wiederverwendet</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Nothing is written yet</source>
   <translation>Noch ist nichts geschrieben</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>Nothing saved {where} yet</source>
   <translation>Noch nichts {where} gespart</translation>
  </message>
  <message>
   <location filename="../../engine/worker/thread.py" />
   <source>Nothing was read ahead: that was stopped.</source>
   <translation>Es wurde nichts vorausgelesen: Das wurde angehalten.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>Nothing was remembered any more</source>
   <translation>Es war nichts mehr gemerkt</translation>
  </message>
  <message>
   <location filename="../../app/chat/rewriting.py" />
   <source>Nothing would be left. Delete the conversation instead.</source>
   <translation>Es bliebe nichts übrig. Löschen Sie stattdessen die Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>November</source>
   <translation>November</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>Now</source>
   <translation>Jetzt</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>Now its prompt is remembered</source>
   <translation>Jetzt ist ihr Prompt gemerkt</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>Now less of its prompt is remembered</source>
   <translation>Jetzt ist weniger von ihrem Prompt gemerkt</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>Nowhere else: refuse instead</source>
   <translation>Nirgends sonst: lieber ablehnen</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Number format</source>
   <translation>Zahlenformat</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>October</source>
   <translation>Oktober</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>On disk</source>
   <translation>Auf der Platte</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>On this computer</source>
   <translation>Auf diesem Computer</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>Once more</source>
   <translation>Noch einmal</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>One different word at token {position}</source>
   <translation>Ein anderes Wort bei Token {position}</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/window.py" />
   <source>One step wider: twice the tokens</source>
   <translation>Eine Stufe breiter: doppelt so viele Token</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>One token costs {cost:,.1f} kB</source>
   <translation>Ein Token kostet {cost:,.1f} kB</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Only an answer of a chat that called no tool can go on.</source>
   <translation>Nur eine Antwort eines Chats, der kein Werkzeug aufrief, kann fortgesetzt werden.</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Only say so</source>
   <translation>Nur melden</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>Open</source>
   <translation>Öffnen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Open &amp;GGUF file…</source>
   <translation>&amp;GGUF-Datei öffnen…</translation>
  </message>
  <message>
   <location filename="../../app/window/dialogs.py" />
   <source>Open a GGUF file</source>
   <translation>Eine GGUF-Datei öffnen</translation>
  </message>
  <message>
   <location filename="../../app/window/dialogs.py" />
   <source>Open a folder with config.json and safetensors files</source>
   <translation>Einen Ordner mit config.json und safetensors-Dateien öffnen</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>Open a model folder…</source>
   <translation>Einen Modellordner öffnen…</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Open another model</source>
   <translation>Ein anderes Modell öffnen</translation>
  </message>
  <message>
   <location filename="../../app/window/updating.py" />
   <source>Open its page</source>
   <translation>Seine Seite öffnen</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source>Open it…</source>
   <translation>Öffnen…</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Open model</source>
   <translation>Modell öffnen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Open model &amp;folder…</source>
   <translation>Modell&amp;ordner öffnen…</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Open one</source>
   <translation>Eines öffnen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Open the &amp;tree of shared beginnings</source>
   <translation>Den &amp;Baum gemeinsamer Anfänge öffnen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Open the menu</source>
   <translation>Das Menü öffnen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/prefix_card.py" />
   <source>Open the tree</source>
   <translation>Den Baum öffnen</translation>
  </message>
  <message>
   <location filename="../../app/window/conversation_model.py" />
   <source>Open {shortened_line}</source>
   <translation>{shortened_line} öffnen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/view.py" />
   <source>Open “{title}”</source>
   <translation>„{title}“ öffnen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/fold.py" />
   <source>Open; Enter folds it</source>
   <translation>Offen; Eingabe klappt es ein</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Open…</source>
   <translation>Öffnen…</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>Other chats read the whole conversation again before each answer. Headstart remembers what the model has read, and shows what that saves. All of it stays on this computer.</source>
   <translation>Andere Chats lesen vor jeder Antwort die ganze Unterhaltung neu. Headstart merkt sich, was das Modell gelesen hat, und zeigt, was das spart. Alles bleibt auf diesem Computer.</translation>
  </message>
  <message>
   <location filename="../../app/window/serving.py" />
   <source>Other programs are answered no more.</source>
   <translation>Anderen Programmen wird nicht mehr geantwortet.</translation>
  </message>
  <message>
   <location filename="../../app/window/serving.py" />
   <source>Other programs on this computer are answered at {}/v1.</source>
   <translation>Anderen Programmen auf diesem Computer wird unter {}/v1 geantwortet.</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Out of its folder</source>
   <translation>Aus dem Ordner nehmen</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>PDF (*.pdf)</source>
   <translation>PDF (*.pdf)</translation>
  </message>
  <message>
   <location filename="../../app/charts/export.py" />
   <source>PNG picture</source>
   <translation>PNG-Bild</translation>
  </message>
  <message>
   <location filename="../../app/window/about.py" />
   <source>Parts of Headstart</source>
   <translation>Teile von Headstart</translation>
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
   <location filename="../../app/models/dialog.py" />
   <source>Pause</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Paused.</source>
   <translation>Angehalten.</translation>
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
   <location filename="../../app/charts/tree/window.py" />
   <source>Point at a run, or go to it with the arrow keys.</source>
   <translation>Zeigen Sie auf einen Abschnitt, oder gehen Sie mit den Pfeiltasten hin.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Port of this computer at which other programs are answered.</source>
   <translation>Port dieses Computers, an dem anderen Programmen geantwortet wird.</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Preferences</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Presence penalty</source>
   <translation>Malus für Vorkommen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Presets</source>
   <translation>Vorlagen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Presets and texts (*.json *.txt *.md)</source>
   <translation>Vorlagen und Texte (*.json *.txt *.md)</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Previous 7 days</source>
   <translation>Letzte 7 Tage</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Pro&amp;ve the newest answer…</source>
   <translation>Neueste Antwort nach&amp;prüfen…</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Program and model</source>
   <translation>Programm und Modell</translation>
  </message>
  <message>
   <location filename="../../app/charts/presenter.py" />
   <source>Program {}</source>
   <translation>Programm {}</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon.py" />
   <source>Prompt in cells</source>
   <translation>Prompt in Zellen</translation>
  </message>
  <message>
   <location filename="../../app/own_data.py" />
   <source>Prompts kept on disk</source>
   <translation>Auf der Platte behaltene Prompts</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <location filename="../../app/transcript/cure_offer.py" />
   <location filename="../../app/transcript/message_actions.py" />
   <location filename="../../app/widgets/explain.py" />
   <source>Prove it</source>
   <translation>Nachprüfen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>Put what changes into the newest message.</source>
   <translation>Schreiben Sie, was sich ändert, in die neueste Nachricht.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <location filename="../../app/transcript/question_view.py" />
   <source>Question</source>
   <translation>Frage</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>Raw text and details…</source>
   <translation>Roher Text und Einzelheiten…</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Read a question while it is written, and a conversation when it is opened, as long as nothing is answered: not on battery, always, or never. Answers are the same, and begin sooner.</source>
   <translation>Eine Frage lesen, während sie geschrieben wird, und eine Unterhaltung, wenn sie geöffnet wird, solange nichts beantwortet wird: nicht im Akkubetrieb, immer oder nie. Antworten sind dieselben und beginnen früher.</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Read ahead</source>
   <translation>Vorauslesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>Read from scratch</source>
   <translation>Von vorn gelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Read from scratch: first word after {time}</source>
   <translation>Von vorn gelesen: erstes Wort nach {time}</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Read it at each start while nothing is asked, and keep it in memory</source>
   <translation>Bei jedem Start lesen, während nichts gefragt wird, und im Speicher behalten</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Read it now</source>
   <translation>Jetzt lesen</translation>
  </message>
  <message>
   <location filename="../../app/window/header.py" />
   <source>Read or change the system prompt of this conversation</source>
   <translation>Den System-Prompt dieser Unterhaltung lesen oder ändern</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>Read the prompt of this turn with the cache and without.</source>
   <translation>Den Prompt dieser Runde mit dem Cache und ohne ihn lesen.</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>Reading</source>
   <translation>Wird gelesen</translation>
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
   <location filename="../../app/composer/attaching.py" />
   <source>Reading {name}</source>
   <translation>{name} wird gelesen</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Reading {name}…</source>
   <translation>{name} wird gelesen…</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Remembered and from scratch</source>
   <translation>Gemerkt und von vorn</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>Remembering, first word</source>
   <translation>Mit Gemerktem, erstes Wort</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>Remove</source>
   <translation>Entfernen</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Remove the server</source>
   <translation>Den Server entfernen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Rename</source>
   <translation>Umbenennen</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Rename folder</source>
   <translation>Ordner umbenennen</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>Rename this folder…</source>
   <translation>Diesen Ordner umbenennen…</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>Rename…</source>
   <translation>Umbenennen…</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Repetition penalty</source>
   <translation>Malus für Wiederholung</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Replace its text</source>
   <translation>Ihren Text ersetzen</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Reset</source>
   <translation>Zurücksetzen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Restore a back&amp;up…</source>
   <translation>Eine Sicherung &amp;zurückholen…</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Restore a backup</source>
   <translation>Eine Sicherung zurückholen</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Restore and close</source>
   <translation>Zurückholen und schließen</translation>
  </message>
  <message>
   <location filename="../../app/exchange/writing.py" />
   <location filename="../../app/transcript/message.py" />
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Result of a tool</source>
   <translation>Ergebnis eines Werkzeugs</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>Result of {called}</source>
   <translation>Ergebnis von {called}</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Reuse what was computed for earlier prompts.</source>
   <translation>Wiederverwenden, was für frühere Prompts berechnet wurde.</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Room left: {percent} of {tokens}</source>
   <translation>Platz: {percent} von {tokens}</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Room to compute in</source>
   <translation>Platz zum Rechnen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>S&amp;top</source>
   <translation>An&amp;halten</translation>
  </message>
  <message>
   <location filename="../../app/charts/export.py" />
   <source>SVG picture</source>
   <translation>SVG-Bild</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Sa&amp;mpling settings…</source>
   <translation>&amp;Wie geantwortet wird…</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Sampling of new conversations</source>
   <translation>Wie in neuen Unterhaltungen gewählt wird</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <location filename="../../app/system_prompt/editor.py" />
   <source>Save</source>
   <translation>Speichern</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Save (Enter)</source>
   <translation>Speichern (Eingabe)</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Save a text under a name, to use it in other conversations. Each preset then says how soon its first token would come.</source>
   <translation>Speichern Sie einen Text unter einem Namen, um ihn in anderen Unterhaltungen zu nehmen. Jede Vorlage sagt dann, wie bald ihr erstes Token käme.</translation>
  </message>
  <message>
   <location filename="../../app/charts/export.py" />
   <source>Save as &amp;{kind}…</source>
   <translation>Als &amp;{kind} speichern…</translation>
  </message>
  <message>
   <location filename="../../app/charts/export.py" />
   <source>Save as PNG, SVG or CSV</source>
   <translation>Als PNG, SVG oder CSV speichern</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Save as preset</source>
   <translation>Als Vorlage speichern</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Save the answer</source>
   <translation>Die Antwort speichern</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/editor.py" />
   <source>Save the changed system prompt?</source>
   <translation>Den geänderten System-Prompt speichern?</translation>
  </message>
  <message>
   <location filename="../../app/charts/export.py" />
   <source>Save this chart</source>
   <translation>Dieses Diagramm speichern</translation>
  </message>
  <message>
   <location filename="../../app/charts/export.py" />
   <source>Save “{name}”</source>
   <translation>„{name}“ speichern</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Saved</source>
   <translation>Gespeichert</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Search conversations</source>
   <translation>Unterhaltung suchen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Search presets</source>
   <translation>Vorlagen durchsuchen</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>Second run: from scratch</source>
   <translation>Zweiter Lauf: von vorn</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Seed</source>
   <translation>Startwert</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <location filename="../../app/window/shortcut_sheet.py" />
   <source>Send</source>
   <translation>Senden</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Send (Enter)</source>
   <translation>Senden (Eingabe)</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Send the message</source>
   <translation>Die Nachricht senden</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>September</source>
   <translation>September</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Servers and their tools</source>
   <translation>Server und ihre Werkzeuge</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Servers of the Model Context Protocol (MCP) give the model functions to call: a program of this computer, or an address. A tool that is ticked stands at the start of this conversation's prompt, so a change reads all of it again once; it is called only as you allow it.</source>
   <translation>Server des Model Context Protocol (MCP) geben dem Modell Funktionen, die es aufrufen kann: ein Programm dieses Computers, oder eine Adresse. Ein angekreuztes Werkzeug steht am Anfang des Prompts dieser Unterhaltung, also liest eine Änderung ihn einmal ganz neu; aufgerufen wird es nur so, wie Sie es erlauben.</translation>
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
   <location filename="../../app/own_data.py" />
   <source>Settings</source>
   <translation>Einstellungen</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Settings of this conversation</source>
   <translation>Einstellungen dieser Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Settings of this conversation: {says}</source>
   <translation>Einstellungen dieser Unterhaltung: {says}</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>Shared beginning (prefix)</source>
   <translation>Gemeinsamer Anfang (Präfix)</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/prefix_card.py" />
   <location filename="../../app/charts/tree/window.py" />
   <location filename="../../app/widgets/explain.py" />
   <source>Shared beginnings</source>
   <translation>Gemeinsame Anfänge</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/window.py" />
   <source>Shared beginnings – Headstart</source>
   <translation>Gemeinsame Anfänge – Headstart</translation>
  </message>
  <message>
   <location filename="../../app/window/shortcut_sheet.py" />
   <source>Shift+Enter</source>
   <translation>Umschalt+Eingabe</translation>
  </message>
  <message>
   <location filename="../../app/transcript/branches_dialog.py" />
   <source>Show</source>
   <translation>Zeigen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/window.py" />
   <source>Show all</source>
   <translation>Alles zeigen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/question_view.py" />
   <source>Show all {count:,} characters</source>
   <translation>Alle {count:,} Zeichen zeigen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/question_view.py" />
   <source>Show all {lines:,} lines</source>
   <translation>Alle {lines:,} Zeilen zeigen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Show charts</source>
   <translation>Diagramme zeigen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Show conversations</source>
   <translation>Unterhaltungen zeigen</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>Show me: ask a support bot two questions · about a minute</source>
   <translation>Vorführen: zwei Fragen an den Support-Bot · eine Minute</translation>
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
   <location filename="../../app/transcript/message_actions.py" />
   <source>Show the figures under answers, or hide them</source>
   <translation>Die Zahlen unter Antworten zeigen oder verbergen</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Show the list of conversations.</source>
   <translation>Die Liste der Unterhaltungen zeigen.</translation>
  </message>
  <message>
   <location filename="../../app/charts/panel.py" />
   <source>Show the turns of all conversations</source>
   <translation>Die Runden aller Unterhaltungen zeigen</translation>
  </message>
  <message>
   <location filename="../../app/charts/panel.py" />
   <source>Show the turns of this conversation</source>
   <translation>Die Runden dieser Unterhaltung zeigen</translation>
  </message>
  <message>
   <location filename="../../app/charts/card.py" />
   <source>Show this part</source>
   <translation>Diesen Teil zeigen</translation>
  </message>
  <message>
   <location filename="../../app/charts/panel.py" />
   <source>Shown here with the first answer: how much sooner it began than it would have from scratch.</source>
   <translation>Hier steht nach der ersten Antwort, wie viel früher sie begann, als sie von vorn begonnen hätte.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Size of messages against the usual one, in percent.</source>
   <translation>Größe von Nachrichten gegenüber der üblichen, in Prozent.</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Small model</source>
   <translation>Kleines Modell</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Smaller text</source>
   <translation>Kleinerer Text</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>So that what was read of your prompts need not be read again after a restart. Automatic takes 2 GB, but at most a tenth of the free space. With 0 MB nothing is kept there, and what is there is deleted at once.</source>
   <translation>Damit nach einem Neustart nicht erneut gelesen werden muss, was von Ihren Prompts gelesen wurde. Automatisch nimmt 2 GB, aber höchstens ein Zehntel des freien Platzes. Mit 0 MB wird dort nichts behalten, und was dort ist, wird sofort gelöscht.</translation>
  </message>
  <message>
   <location filename="../../app/own_data.py" />
   <source>Software for the graphics card</source>
   <translation>Software für die Grafikkarte</translation>
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
   <location filename="../../app/crash.py" />
   <source>Something went wrong that Headstart did not expect.</source>
   <translation>Es ist etwas schiefgegangen, womit Headstart nicht gerechnet hat.</translation>
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
   <location filename="../../app/models/dialog.py" />
   <source>State</source>
   <translation>Zustand</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <location filename="../../app/proof/dialog.py" />
   <location filename="../../app/window/tool_bar.py" />
   <source>Stop</source>
   <translation>Anhalten</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Stop (Esc)</source>
   <translation>Anhalten (Esc)</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Stop at</source>
   <translation>Ende bei</translation>
  </message>
  <message>
   <location filename="../../app/window/tool_bar.py" />
   <source>Stop calling tools</source>
   <translation>Keine Werkzeuge mehr aufrufen</translation>
  </message>
  <message>
   <location filename="../../app/composer/file_row.py" />
   <source>Stop reading the file</source>
   <translation>Das Lesen der Datei abbrechen</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Stop the answer</source>
   <translation>Die Antwort anhalten</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>Stop the proof</source>
   <translation>Die Prüfung anhalten</translation>
  </message>
  <message>
   <location filename="../../app/proof/presenter.py" />
   <source>Stopped</source>
   <translation>Angehalten</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>Stopped before both had written.</source>
   <translation>Angehalten, bevor beide geschrieben hatten.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>Stopped: {same} the same.</source>
   <translation>Angehalten: So weit {same} gleich.</translation>
  </message>
  <message>
   <location filename="../../app/window/loading_bar.py" />
   <source>Stopping  ·  the step that has begun is ended first</source>
   <translation>Wird angehalten  ·  der begonnene Schritt wird noch beendet</translation>
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
   <location filename="../../app/window/tour.py" />
   <source>Support bot</source>
   <translation>Support-Bot</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <location filename="../../app/system_prompt/editor.py" />
   <location filename="../../app/window/header.py" />
   <source>System prompt</source>
   <translation>System-Prompt</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>System prompt of new conversations</source>
   <translation>System-Prompt neuer Unterhaltungen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Take in presets from a file that Headstart wrote, or a text file as one</source>
   <translation>Vorlagen aus einer Datei von Headstart übernehmen, oder eine Textdatei als eine Vorlage</translation>
  </message>
  <message>
   <location filename="../../app/composer/attaching.py" />
   <source>Take its beginning ({tokens})</source>
   <translation>Ihren Anfang nehmen ({tokens})</translation>
  </message>
  <message>
   <location filename="../../app/composer/file_row.py" />
   <source>Take {name} away</source>
   <translation>{name} entfernen</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Te&amp;xt size</source>
   <translation>&amp;Textgröße</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Temperature</source>
   <translation>Temperatur</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Temperature {temperature:g} · top-p {top_p:g}</source>
   <translation>Temperatur {temperature:g} · Top-p {top_p:g}</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Text</source>
   <translation>Text</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>Text of {name}</source>
   <translation>Text von {name}</translation>
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
   <location filename="../../app/charts/panel.py" />
   <source>The answer before</source>
   <translation>Die Antwort davor</translation>
  </message>
  <message>
   <location filename="../../engine/turn/constrained.py" />
   <source>The answer could not go on within its form. Write it more simply, or ask again.</source>
   <translation>Die Antwort konnte in ihrer Form nicht weitergehen. Schreiben Sie diese einfacher, oder fragen Sie neu.</translation>
  </message>
  <message>
   <location filename="../../app/window/ready_note.py" />
   <source>The answer is ready</source>
   <translation>Die Antwort ist fertig</translation>
  </message>
  <message>
   <location filename="../../app/window/ready_note.py" />
   <source>The answer was broken off</source>
   <translation>Die Antwort wurde abgebrochen</translation>
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
   <location filename="../../app/charts/export.py" />
   <source>The chart cannot be saved to {parent}: {reason}. Choose another folder; the chart stays.</source>
   <translation>Das Diagramm kann nicht in {parent} gespeichert werden: {reason}. Wählen Sie einen anderen Ordner; das Diagramm bleibt.</translation>
  </message>
  <message>
   <location filename="../../app/charts/presenter.py" />
   <source>The chart is saved as {path}.</source>
   <translation>Das Diagramm wurde als {path} gespeichert.</translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/composer/trimming.py" />
   <source>The chat had grown too long, so its {count:,} oldest turns ({tokens:,} tokens) were left out.</source>
   <translation>
    <numerusform>Der Chat war zu lang geworden; seine älteste Runde ({tokens:,} Token) wurde weggelassen.</numerusform>
    <numerusform>Der Chat war zu lang geworden; seine {count:,} ältesten Runden ({tokens:,} Token) wurden weggelassen.</numerusform>
   </translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>The chat template of this model takes no tools, so questions with them are refused.</source>
   <translation>Die Chat-Vorlage dieses Modells nimmt keine Werkzeuge, also werden Fragen mit ihnen abgelehnt.</translation>
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
   <location filename="../../app/charts/panel.py" />
   <source>The first prompt is being read. What that took is shown here with the first word.</source>
   <translation>Der erste Prompt wird gelesen. Wie lange das dauerte, steht hier mit dem ersten Wort.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>The folder for “{name}”. It is there as long as something is in it.</source>
   <translation>Der Ordner für „{name}“. Es gibt ihn, solange etwas darin ist.</translation>
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
   <location filename="../../app/window/server_dialog.py" />
   <source>The key is kept in the keyring of this system; empty where the server wants none.</source>
   <translation>Der Schlüssel wird im Schlüsselbund dieses Systems behalten; leer, wenn der Server keinen will.</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>The key of a server at an address is kept in the keyring of this system, and sent to that address only.</source>
   <translation>Der Schlüssel eines Servers unter einer Adresse wird im Schlüsselbund dieses Systems behalten und nur an diese Adresse gesendet.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>The language of the window. A change is there from the next start on.</source>
   <translation>Die Sprache des Fensters. Eine Änderung gilt ab dem nächsten Start.</translation>
  </message>
  <message>
   <location filename="../../app/window/about.py" />
   <source>The licences are being read…</source>
   <translation>Die Lizenzen werden gelesen…</translation>
  </message>
  <message>
   <location filename="../../app/transcript/find_bar.py" />
   <source>The match before (Shift+Enter)</source>
   <translation>Der Treffer davor (Umschalt+Eingabe)</translation>
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
   <location filename="../../app/window/header.py" />
   <source>The model may ask to call: {parts}. “Tools…” changes that.</source>
   <translation>Das Modell darf um einen Aufruf bitten von: {parts}. „Werkzeuge…“ ändert das.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>The model no longer sees what stands above this line</source>
   <translation>Was über dieser Linie steht, sieht das Modell nicht mehr</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>The model then gets its earlier thoughts back with each question.</source>
   <translation>Das Modell bekommt dann mit jeder Frage seine früheren Gedanken zurück.</translation>
  </message>
  <message>
   <location filename="../../app/window/tool_bar.py" />
   <source>The model wants to call {name} of {shortened_line} with:</source>
   <translation>Das Modell möchte {name} von {shortened_line} aufrufen mit:</translation>
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
   <location filename="../../app/transcript/find_bar.py" />
   <source>The next match (Enter)</source>
   <translation>Der nächste Treffer (Eingabe)</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>The next prompt</source>
   <translation>Der nächste Prompt</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>The next version</source>
   <translation>Die nächste Fassung</translation>
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
   <location filename="../../app/window/graphics_card.py" />
   <source>The processor computes, unless software for the graphics card is installed, which takes gigabytes.</source>
   <translation>Der Prozessor rechnet, solange keine Software für die Grafikkarte installiert ist, die Gigabyte belegt.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>The prompt is read once more; after that it stays the same. It can be undone where the temperature is set.</source>
   <translation>Der Prompt wird noch einmal gelesen; danach bleibt er gleich. Rückgängig machen lässt es sich dort, wo die Temperatur eingestellt wird.</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>The prompts of its last {count} elsewhere:
{in_words}</source>
   <translation>Die Prompts ihrer letzten {count} anderswo:
{in_words}</translation>
  </message>
  <message>
   <location filename="../../app/window/tour.py" />
   <source>The rules are remembered now. Ask something else: only your question is new.</source>
   <translation>Die Regeln sind jetzt gemerkt. Fragen Sie etwas anderes: Nur Ihre Frage ist neu.</translation>
  </message>
  <message>
   <location filename="../../app/window/empty_state.py" />
   <source>The rules are remembered. Only your question is new, so the answer starts at once.</source>
   <translation>Die Regeln sind gemerkt. Nur Ihre Frage ist neu, also beginnt die Antwort sofort.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>The same answer</source>
   <translation>Dieselbe Antwort</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>The same answer, word for word: {tokens}, and the numbers behind them are equal to the last bit.</source>
   <translation>Dieselbe Antwort, Wort für Wort: {tokens}, und die Zahlen dahinter sind bis aufs letzte Bit gleich.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>The same answer, word for word: {tokens}.</source>
   <translation>Dieselbe Antwort, Wort für Wort: {tokens}.</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>The same at every start, whatever is free then. A shorter conversation takes less.</source>
   <translation>Bei jedem Start dieselbe, was auch immer dann frei ist. Eine kürzere Unterhaltung braucht weniger.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>The same prompt is answered twice with always the likeliest token: once with what is remembered now, which may be more than the turn itself found, once with every token read anew. Remembering is right when both write the same tokens, and worth it when the first comes sooner.</source>
   <translation>Derselbe Prompt wird zweimal immer mit dem wahrscheinlichsten Token beantwortet: einmal mit dem, was jetzt gemerkt ist – das kann mehr sein, als die Runde selbst fand –, einmal mit jedem Token neu gelesen. Das Merken ist richtig, wenn beide dieselben Token schreiben, und lohnt sich, wenn die erste früher kommt.</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>The same prompt, remembering and from scratch</source>
   <translation>Derselbe Prompt, mit Gemerktem und von vorn</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>The same seed gives the same answer; “random” draws a new one each time.</source>
   <translation>Derselbe Startwert gibt dieselbe Antwort; „zufällig“ zieht jedes Mal einen neuen.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>The same up to token {token:,}, where they part: {sides}.</source>
   <translation>Gleich bis Token {token:,}, dort trennen sie sich: {sides}.</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>The same: both ended the answer at once.</source>
   <translation>Gleich: Beide beendeten die Antwort sofort.</translation>
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
   <location filename="../../app/widgets/explain.py" />
   <source>The system prompt of a conversation, and whatever is pinned in the tree, stays in memory when other things are dropped. What is kept takes at most half of the memory; beyond that the oldest is let go.</source>
   <translation>Der System-Prompt einer Unterhaltung und was im Baum angeheftet ist, bleibt im Speicher, wenn anderes verworfen wird. Behaltenes belegt höchstens die Hälfte des Speichers; darüber hinaus weicht das Älteste.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>The system prompt stands at the very front, so one token that is another one at the next turn makes the model read everything behind it again. Frozen, it stays as it is; moved to the newest message, it may change and costs nothing, because only new text stands behind it.</source>
   <translation>Der System-Prompt steht ganz vorn, also lässt ein Token, das in der nächsten Runde ein anderes ist, das Modell alles dahinter erneut lesen. Eingefroren bleibt es, wie es ist; zur neuesten Nachricht verschoben darf es sich ändern und kostet nichts, weil nur neuer Text dahinter steht.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>The system prompt stands in the first question of this conversation from now on.</source>
   <translation>Der System-Prompt steht von jetzt an in der ersten Frage dieser Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>The text differs from token {position} on</source>
   <translation>Der Text ist ab Token {position} anders</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>The title is written: {read} read for it, {remembered:,} were remembered.</source>
   <translation>Der Titel ist geschrieben: {read} dafür gelesen, {remembered:,} waren gemerkt.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>The token after it</source>
   <translation>Ein Token und was danach kam</translation>
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
   <location filename="../../app/window/tool_bar.py" />
   <source>The tool is called now. You are asked again next time.</source>
   <translation>Das Werkzeug wird jetzt aufgerufen. Beim nächsten Mal werden Sie wieder gefragt.</translation>
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
   <location filename="../../app/proof/dialog.py" />
   <source>The turn itself, read ahead while you wrote</source>
   <translation>Die Runde selbst, vorausgelesen, während Sie schrieben</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>The two best choices were {margin:.3f} apart there: {kind}. Here answers are only near: {near}</source>
   <translation>Die zwei besten Möglichkeiten lagen dort {margin:.3f} auseinander: {kind}. Antworten sind hier nur annähernd gleich: {near}</translation>
  </message>
  <message>
   <location filename="../../app/chat/calling.py" />
   <source>The user does not allow this tool to be called. Answer without it.</source>
   <translation>Der Benutzer erlaubt den Aufruf dieses Werkzeugs nicht. Antworte ohne es.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>The version before</source>
   <translation>Die Fassung davor</translation>
  </message>
  <message>
   <location filename="../../app/window/window.py" />
   <source>The window is too narrow for the charts. They open as soon as it is wider.</source>
   <translation>Das Fenster ist zu schmal für die Diagramme. Sie öffnen sich, sobald es breiter ist.</translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/composer/trimming.py" />
   <source>The {count:,} oldest turns ({tokens:,} tokens) can be left out.</source>
   <translation>
    <numerusform>Die älteste Runde ({tokens:,} Token) kann weggelassen werden.</numerusform>
    <numerusform>Die {count:,} ältesten Runden ({tokens:,} Token) können weggelassen werden.</numerusform>
   </translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>The {tokens} after it</source>
   <translation>Die {tokens} danach</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>Then both answers are compared.</source>
   <translation>Dann werden beide Antworten verglichen.</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>Then the same prompt is read from scratch, and both answers are compared.</source>
   <translation>Dann wird derselbe Prompt von vorn gelesen, und beide Antworten werden verglichen.</translation>
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
   <location filename="../../app/proof/presenter.py" />
   <source>There is no answer to prove yet. Ask something first.</source>
   <translation>Es gibt noch keine Antwort zum Nachprüfen. Stellen Sie zuerst eine Frage.</translation>
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
   <location filename="../../app/window/presenter.py" />
   <source>There is no model yet; open one when you want to go on.</source>
   <translation>Es gibt noch kein Modell; öffnen Sie eines, wenn Sie weitermachen wollen.</translation>
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
   <location filename="../../app/window/exchanging.py" />
   <source>There is nothing to export yet: this conversation is empty.</source>
   <translation>Es gibt noch nichts zu exportieren: Diese Unterhaltung ist leer.</translation>
  </message>
  <message>
   <location filename="../../app/proof/compare.py" />
   <source>They should be equal to the last bit: this is a fault of the program, please report it.</source>
   <translation>Sie sollten bis aufs letzte Bit gleich sein: Das ist ein Fehler des Programms, bitte melden Sie ihn.</translation>
  </message>
  <message>
   <location filename="../../app/composer/trimming.py" />
   <source>They stay here to be read.</source>
   <translation>Sie bleiben hier zum Nachlesen.</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>Thinking</source>
   <translation>Nachdenken</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Thinking…</source>
   <translation>Denkt nach…</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Thinking… {short}</source>
   <translation>Denkt nach… {short}</translation>
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
   <location filename="../../app/charts/panel.py" />
   <source>This chat</source>
   <translation>Dieser Chat</translation>
  </message>
  <message>
   <location filename="../../app/composer/trimming.py" />
   <source>This chat has {prompt_tokens:,} tokens, and the model reads {context_length:,}{left}.</source>
   <translation>Dieser Chat hat {prompt_tokens:,} Token, und das Modell liest {context_length:,}{left}.</translation>
  </message>
  <message>
   <location filename="../../engine/models/choice.py" />
   <source>This computer has no usable {1} device. Choose the device 'auto' or 'cpu'.</source>
   <translation>Dieser Computer hat kein nutzbares Gerät {1}. Wählen Sie als Gerät „auto“ oder „cpu“.</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>This con&amp;versation</source>
   <translation>D&amp;iese Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/history/history.py" />
   <source>This conversation is no longer there. Choose another one.</source>
   <translation>Diese Unterhaltung gibt es nicht mehr. Wählen Sie eine andere.</translation>
  </message>
  <message>
   <location filename="../../app/window/header.py" />
   <source>This conversation is sent to a server of its own. “Use a server…”, in the model menu, changes that.</source>
   <translation>Diese Unterhaltung wird an einen eigenen Server gesendet. „Einen Server nutzen…“, im Menü des Modells, ändert das.</translation>
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
   <location filename="../../app/transcript/divergence_box.py" />
   <source>This conversation outgrew a length of its model</source>
   <translation>Diese Unterhaltung ist über eine Länge ihres Modells hinausgewachsen</translation>
  </message>
  <message>
   <location filename="../../app/history/filing.py" />
   <source>This conversation was deleted for good already.</source>
   <translation>Diese Unterhaltung wurde schon endgültig gelöscht.</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>This conversation was written to {path}.</source>
   <translation>Diese Unterhaltung wurde in {path} geschrieben.</translation>
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
   <location filename="../../app/widgets/explain.py" />
   <source>This is the wait from Send to the first piece of the answer: the prompt is looked up, and what is not remembered is read. The more is remembered, the shorter it is.</source>
   <translation>Das ist die Wartezeit vom Senden bis zum ersten Stück der Antwort: Der Prompt wird nachgeschlagen, und was nicht gemerkt ist, wird gelesen. Je mehr gemerkt ist, desto kürzer ist sie.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>This is what the same prompt would take with nothing remembered. It is an estimate from how fast this model reads here, told as a span, and left out below half a second. Where the same prompt was really read that way, the measured time stands there without “about”.</source>
   <translation>So lange würde derselbe Prompt dauern, wenn nichts gemerkt wäre. Es ist eine Schätzung danach, wie schnell dieses Modell hier liest, als Spanne angegeben und unter einer halben Sekunde weggelassen. Wo derselbe Prompt wirklich so gelesen wurde, steht die gemessene Zeit ohne „etwa“.</translation>
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
   <location filename="../../app/widgets/next_prompt.py" />
   <source>This prompt</source>
   <translation>Dieser Prompt</translation>
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
   <location filename="../../app/charts/tree/words.py" />
   <source>This run does not lie where the model computes, so there is nothing to pin. A message that begins with it brings it back.</source>
   <translation>Dieser Abschnitt liegt nicht dort, wo das Modell rechnet, also gibt es nichts anzuheften. Eine Nachricht, die mit ihm beginnt, holt ihn zurück.</translation>
  </message>
  <message>
   <location filename="../../engine/cache/picture.py" />
   <source>This run is in the computer's memory only, so there is nothing on the graphics card to keep. Send a message that begins with it, then keep it.</source>
   <translation>Dieser Abschnitt liegt nur im Speicher des Computers, also gibt es auf der Grafikkarte nichts anzuheften. Senden Sie eine Nachricht, die mit ihm beginnt, und heften Sie ihn dann an.</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/presenter.py" />
   <source>This run is no longer in the cache; nothing was changed.</source>
   <translation>Dieser Abschnitt ist nicht mehr im Cache; es wurde nichts geändert.</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/presenter.py" />
   <source>This run is not pinned: what is pinned takes at most half of the cache. Unpin another run, or give the cache more memory in the preferences.</source>
   <translation>Dieser Abschnitt ist nicht angeheftet: Angeheftetes belegt höchstens die Hälfte des Caches. Lösen Sie einen anderen, oder geben Sie dem Cache in den Einstellungen mehr Speicher.</translation>
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
   <location filename="../../app/window/tools_dialog.py" />
   <source>This server has no tools.</source>
   <translation>Dieser Server hat keine Werkzeuge.</translation>
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
   <location filename="../../app/window/tool_bar.py" />
   <source>This tool is called without asking, in every conversation.</source>
   <translation>Dieses Werkzeug wird in jeder Unterhaltung ohne Nachfrage aufgerufen.</translation>
  </message>
  <message>
   <location filename="../../app/window/tool_bar.py" />
   <source>This tool is not called, and the model is told so.</source>
   <translation>Dieses Werkzeug wird nicht aufgerufen, und das Modell erfährt es.</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>This turn's prompt is read twice and answered with always the likeliest word, {tokens} each time. The conversation stays as it is.</source>
   <translation>Der Prompt dieser Runde wird zweimal gelesen und immer mit dem wahrscheinlichsten Wort beantwortet, jedes Mal {tokens}. Die Unterhaltung bleibt, wie sie ist.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <location filename="../../app/transcript/message_dialog.py" />
   <location filename="../../app/words.py" />
   <source>Thought</source>
   <translation>Gedanke</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Thought for {short}, {tokens}</source>
   <translation>{short} nachgedacht, {tokens}</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>Thoughts</source>
   <translation>Gedanken</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>Thoughts stay in the history of this conversation from now on.</source>
   <translation>Gedanken bleiben von jetzt an im Verlauf dieser Unterhaltung.</translation>
  </message>
  <message>
   <location filename="../../app/window/header.py" />
   <source>Title of the conversation</source>
   <translation>Titel der Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>To download</source>
   <translation>Zum Herunterladen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Today</source>
   <translation>Heute</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Token for the Hub</source>
   <translation>Token für den Hub</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Token ids lie between 0 and {1}: leave the others out.</source>
   <translation>Token-Nummern liegen zwischen 0 und {1}: Lassen Sie die anderen weg.</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Token of your account (kept in this system's keyring)</source>
   <translation>Token Ihres Kontos (im Schlüsselbund dieses Systems behalten)</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>Token {start:,}</source>
   <translation>Token {start:,}</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/widgets/explain.py" />
   <source>Tokens</source>
   <translation>Token</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Tokens after which an answer ends at the latest.</source>
   <translation>Token, nach denen eine Antwort spätestens endet.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>Tokens {start:,} to {end:,}</source>
   <translation>Token {start:,} bis {end:,}</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Too large: {ways}</source>
   <translation>Zu groß: {ways}</translation>
  </message>
  <message>
   <location filename="../../app/transcript/branches_dialog.py" />
   <location filename="../../app/window/tools_dialog.py" />
   <source>Tool</source>
   <translation>Werkzeug</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Tools</source>
   <translation>Werkzeuge</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Top-k</source>
   <translation>Top-k</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Top-p</source>
   <translation>Top-p</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>Torch's build {build} is installed and takes {size}. </source>
   <translation>Torchs Ausgabe {build} ist installiert und belegt {size}. </translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/view.py" />
   <source>Tree of shared beginnings</source>
   <translation>Baum der gemeinsamen Anfänge</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>Try again</source>
   <translation>Noch einmal versuchen</translation>
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
   <location filename="../../app/charts/cards.py" />
   <source>Turn {first_number}</source>
   <translation>Runde {first_number}</translation>
  </message>
  <message>
   <location filename="../../app/charts/presenter.py" />
   <source>Turn {number} {read_again}</source>
   <translation>Runde {number}: {read_again}</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>Turn {turn} itself remembered {reused}{waited}. {now}: this run remembers {reused_tokens:,}.</source>
   <translation>Runde {turn} selbst hatte {reused} gemerkt{waited}. {now}: Dieser Lauf hat {reused_tokens:,} gemerkt.</translation>
  </message>
  <message>
   <location filename="../../app/charts/panel.py" />
   <source>Turns in the charts</source>
   <translation>Runden in den Diagrammen</translation>
  </message>
  <message>
   <location filename="../../engine/types.py" />
   <source>Two tools are called {1}: give each a name of its own.</source>
   <translation>Zwei Werkzeuge heißen {1}: Geben Sie jedem einen eigenen Namen.</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/view.py" />
   <source>Un&amp;pin, with all behind it</source>
   <translation>&amp;Lösen, mit allem dahinter</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>Underline what was written ahead</source>
   <translation>Vorausgeschriebenes unterstreichen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <location filename="../../app/window/filing_presenter.py" />
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>Undo</source>
   <translation>Rückgängig</translation>
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
   <location filename="../../app/charts/tree/words.py" />
   <source>Untitled</source>
   <translation>Ohne Titel</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Use a &amp;server…</source>
   <translation>Einen &amp;Server nutzen…</translation>
  </message>
  <message>
   <location filename="../../app/window/server_dialog.py" />
   <source>Use a server</source>
   <translation>Einen Server nutzen</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>Use for new ones</source>
   <translation>Für neue nehmen</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>Use in this conversation</source>
   <translation>In dieser Unterhaltung nutzen</translation>
  </message>
  <message>
   <location filename="../../app/window/server_dialog.py" />
   <source>Use it</source>
   <translation>Nutzen</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Use my graphics card…</source>
   <translation>Meine Grafikkarte nutzen…</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>Use the default model</source>
   <translation>Das Standardmodell nehmen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Use this text</source>
   <translation>Diesen Text nehmen</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>Used</source>
   <translation>Gebraucht</translation>
  </message>
  <message>
   <location filename="../../app/window/actions.py" />
   <source>Usual size of text</source>
   <translation>Übliche Textgröße</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Variables</source>
   <translation>Variablen</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>Variables…</source>
   <translation>Variablen…</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Version</source>
   <translation>Fassung</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>Version {number} of {count}</source>
   <translation>Fassung {number} von {count}</translation>
  </message>
  <message>
   <location filename="../../app/transcript/branches_dialog.py" />
   <source>Versions of this conversation</source>
   <translation>Fassungen dieser Unterhaltung</translation>
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
   <location filename="../../app/models/downloads.py" />
   <source>Waits for the one before.</source>
   <translation>Wartet auf das vorige.</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Web page (*.html)</source>
   <translation>Webseite (*.html)</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Weights</source>
   <translation>Gewichte</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <location filename="../../app/window/notice_bar.py" />
   <source>What can be done about it</source>
   <translation>Was sich tun lässt</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>What can be done with this message</source>
   <translation>Was sich mit dieser Nachricht tun lässt</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>What changes in a system prompt</source>
   <translation>Was sich in einem System-Prompt ändert</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/finding_list.py" />
   <source>What changes in this text</source>
   <translation>Was sich in diesem Text ändert</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_actions.py" />
   <source>What else can be done with this message</source>
   <translation>Was sich sonst mit dieser Nachricht tun lässt</translation>
  </message>
  <message>
   <location filename="../../engine/cache/disk_files.py" />
   <source>What is kept on disk of deleted conversations could not be deleted now. It is deleted when Headstart starts again.</source>
   <translation>Was von gelöschten Unterhaltungen auf der Platte ist, konnte jetzt nicht gelöscht werden. Es wird gelöscht, wenn Headstart wieder startet.</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>What is remembered takes half of the room then, in memory and on disk.</source>
   <translation>Was gemerkt ist, belegt dann halb so viel Platz, im Speicher und auf der Platte.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>What is remembered takes memory, shown over the last 10 minutes: kept, in use (the buffer that the newest chat is worked on in, a copy of its blocks) and what can go, under the most it may take. The total is larger than that of the tree, which counts blocks only and not that buffer; what is on disk is in neither, nor are the texts and token ids beside it.</source>
   <translation>Was gemerkt ist, belegt Speicher, hier über die letzten 10 Minuten: behalten, in Gebrauch (der Puffer, in dem am neuesten Chat gearbeitet wird, eine Kopie seiner Blöcke) und entbehrlich, unter der Obergrenze. Die Summe ist größer als die des Baums, der nur Blöcke zählt und nicht diesen Puffer; was auf der Platte liegt, ist in keiner von beiden, ebenso wenig die Texte und Token-Nummern daneben.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>What is this?</source>
   <translation>Was ist das?</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>What is this? {name}</source>
   <translation>Was ist das? {name}</translation>
  </message>
  <message>
   <location filename="../../app/charts/panel.py" />
   <source>What it saves</source>
   <translation>Was es spart</translation>
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
   <location filename="../../app/widgets/explain.py" />
   <source>What this answer took</source>
   <translation>Was diese Antwort brauchte</translation>
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
   <location filename="../../app/widgets/explain.py" />
   <source>What was read is remembered (cached) in blocks of 16 tokens; a token is a short word or a piece of a longer one. A block serves again only where it, and everything before it, is the same as it was.</source>
   <translation>Was gelesen wurde, wird in Blöcken von 16 Token gemerkt (im Cache); ein Token ist ein kurzes Wort oder ein Stück eines längeren. Ein Block dient nur dort wieder, wo er und alles davor noch so ist, wie es war.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/explain.py" />
   <source>What was read of a prompt before the last start, or was dropped from memory since, is taken from disk. That takes a moment longer than memory, and far less than reading the prompt again.</source>
   <translation>Was vor dem letzten Start von einem Prompt gelesen oder seither aus dem Speicher verworfen wurde, wird von der Platte geholt. Das dauert einen Augenblick länger als aus dem Speicher und viel kürzer, als den Prompt erneut zu lesen.</translation>
  </message>
  <message>
   <location filename="../../app/window/empty_state.py" />
   <source>What was remembered is blue. Prove it on any answer.</source>
   <translation>Was gemerkt war, ist blau. Prüfen Sie es bei jeder Antwort nach.</translation>
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
   <location filename="../../app/widgets/explain.py" />
   <source>When the memory (budget) is full, what was not used for the longest time is dropped. A conversation that needs it again has to read it again.</source>
   <translation>Wenn der Speicher (das Budget) voll ist, wird verworfen, was am längsten nicht gebraucht wurde. Eine Unterhaltung, die es wieder braucht, muss es erneut lesen.</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>When the model calls it</source>
   <translation>Wenn das Modell es aufruft</translation>
  </message>
  <message>
   <location filename="../../app/window/tools_dialog.py" />
   <source>When the model calls {called}</source>
   <translation>Wenn das Modell {called} aufruft</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>Where a system prompt goes that the chat template leaves out, refuses or moves.</source>
   <translation>Wohin ein System-Prompt kommt, den die Chat-Vorlage weglässt, ablehnt oder verschiebt.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Where the model computes. A change loads the model again.</source>
   <translation>Wo das Modell rechnet. Eine Änderung lädt das Modell neu.</translation>
  </message>
  <message>
   <location filename="../../app/composer/template_form.py" />
   <source>Where the model expects it</source>
   <translation>Wo das Modell ihn erwartet</translation>
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
   <location filename="../../app/composer/template_form.py" />
   <source>Whether, or how long, the model thinks before it answers.</source>
   <translation>Ob und wie lange das Modell nachdenkt, bevor es antwortet.</translation>
  </message>
  <message>
   <location filename="../../app/settings.py" />
   <source>Which tools are called without asking (always), and which not at all (never).</source>
   <translation>Welche Werkzeuge ohne Nachfrage aufgerufen werden (always) und welche gar nicht (never).</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>Why this prompt was read again</source>
   <translation>Warum dieser Prompt erneut gelesen wurde</translation>
  </message>
  <message>
   <location filename="../../app/window/reuse_presenter.py" />
   <source>With the changed system prompt</source>
   <translation>Mit dem geänderten System-Prompt</translation>
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
   <location filename="../../app/system_prompt/editor.py" />
   <source>With this text</source>
   <translation>Mit diesem Text</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/editor.py" />
   <source>Without saving, what was written here is lost.</source>
   <translation>Ohne Speichern geht verloren, was hier geschrieben wurde.</translation>
  </message>
  <message>
   <location filename="../../app/composer/composer.py" />
   <source>Write a message</source>
   <translation>Nachricht schreiben</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>Write ahead</source>
   <translation>Vorausschreiben</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Write ahead with</source>
   <translation>Vorausschreiben mit</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>Write ahead with a small model</source>
   <translation>Mit einem kleinen Modell vorausschreiben</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>Write all presets into a file</source>
   <translation>Alle Vorlagen in eine Datei schreiben</translation>
  </message>
  <message>
   <location filename="../../engine/prompt/template.py" />
   <source>Write something into each message.</source>
   <translation>Schreiben Sie etwas in jede Nachricht.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Written</source>
   <translation>Geschrieben</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Written at</source>
   <translation>Geschrieben mit</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>Written without</source>
   <translation>Geschrieben ohne</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>Yesterday</source>
   <translation>Gestern</translation>
  </message>
  <message>
   <location filename="../../app/exchange/writing.py" />
   <location filename="../../app/transcript/branches_dialog.py" />
   <source>You</source>
   <translation>Sie</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>You can write meanwhile</source>
   <translation>Sie können inzwischen schreiben</translation>
  </message>
  <message>
   <location filename="../../app/crash.py" />
   <source>Your conversations are kept. If it happens again, restart the program and report it with the details. They are also in {log_file}.</source>
   <translation>Ihre Unterhaltungen sind gesichert. Wenn es wieder geschieht, starten Sie das Programm neu und melden Sie es mit den Einzelheiten. Sie stehen auch in {log_file}.</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>Your conversations will be listed here.</source>
   <translation>Hier werden Ihre Unterhaltungen aufgelistet.</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>Your conversations, saved system prompts and settings become those of the backup. What is there now is kept beside them under another name. Headstart closes; start it again then.</source>
   <translation>Ihre Unterhaltungen, gespeicherten System-Prompts und Einstellungen werden die der Sicherung. Was jetzt da ist, wird daneben unter anderem Namen behalten. Headstart schließt sich; starten Sie es dann neu.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>a clock</source>
   <translation>eine Uhrzeit</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>a date</source>
   <translation>ein Datum</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>a date moved on</source>
   <translation>ein Datum lief weiter</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>a date or a clock there moved on</source>
   <translation>ein Datum oder eine Uhr dort lief weiter</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>a day</source>
   <translation>ein Tag</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>a moment</source>
   <translation>ein Zeitpunkt</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>a setting of this conversation that the chat template sees is another one</source>
   <translation>eine Einstellung dieser Unterhaltung, die die Chat-Vorlage sieht, ist eine andere</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>a tool</source>
   <translation>einem Werkzeug</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <location filename="../../app/system_prompt/findings.py" />
   <source>about {about_seconds}</source>
   <translation>etwa {about_seconds}</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>about {about_seconds} left</source>
   <translation>noch etwa {about_seconds}</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <location filename="../../app/words.py" />
   <source>about {estimated_seconds}</source>
   <translation>etwa {estimated_seconds}</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>about {memory}</source>
   <translation>etwa {memory}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>about {ratio} times sooner</source>
   <translation>etwa {ratio}-mal früher</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>about {size}</source>
   <translation>etwa {size}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>about {tokens} are read again</source>
   <translation>etwa {tokens} werden erneut gelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>about {tokens} fewer are read</source>
   <translation>etwa {tokens} weniger werden gelesen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>about {tokens} more in each prompt, </source>
   <translation>etwa {tokens} mehr in jedem Prompt, </translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>about {value:,.0f} h</source>
   <translation>etwa {value:,.0f} h</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>after {seconds}</source>
   <translation>nach {seconds}</translation>
  </message>
  <message>
   <location filename="../../app/charts/bars.py" />
   <source>all conversations, newest last</source>
   <translation>alle Unterhaltungen, die neueste zuletzt</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>all of them were sent</source>
   <translation>alle davon wurden gesendet</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>an empty thought put in</source>
   <translation>ein leerer Gedanke eingefügt</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>an id</source>
   <translation>eine Kennung</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>another model</source>
   <translation>ein anderes Modell</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>another setting</source>
   <translation>eine andere Einstellung</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>answers begin otherwise</source>
   <translation>Antworten beginnen anders</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>as sent before</source>
   <translation>wie schon gesendet</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>automatic</source>
   <translation>automatisch</translation>
  </message>
  <message>
   <location filename="../../app/chat/places.py" />
   <source>between two messages</source>
   <translation>zwischen zwei Nachrichten</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>between two messages, written by the chat template</source>
   <translation>zwischen zwei Nachrichten, von der Chat-Vorlage geschrieben</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>broken off by an error</source>
   <translation>durch einen Fehler abgebrochen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>broken off when the program ended</source>
   <translation>abgebrochen, als das Programm endete</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>call {number}</source>
   <translation>Aufruf {number}</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>can go</source>
   <translation>entbehrlich</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>cannot be opened</source>
   <translation>kann nicht geöffnet werden</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>changes at each turn</source>
   <translation>ändert sich in jeder Runde</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>changes at midnight</source>
   <translation>ändert sich um Mitternacht</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>each model keeps a cache of its own</source>
   <translation>jedes Modell hat einen eigenen Cache</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>estimated for the conversation as it stands, without your next message</source>
   <translation>geschätzt für die Unterhaltung, wie sie steht, ohne Ihre nächste Nachricht</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/preset_panel.py" />
   <source>estimated for what is written in the composer, under this system prompt</source>
   <translation>geschätzt für das, was gerade geschrieben wird, unter diesem System-Prompt</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>everything after it is read again</source>
   <translation>alles dahinter neu zu lesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/memory.py" />
   <source>evicted {size}</source>
   <translation>{size} verdrängt</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>file {number}</source>
   <translation>Datei {number}</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/transcript/stat_strip.py" />
   <source>first token</source>
   <translation>erstes Token</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>first word after {seconds}</source>
   <translation>erstes Wort nach {seconds}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>first word in about {about_seconds}</source>
   <translation>erstes Wort in etwa {about_seconds}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>first word in under 0.1 s</source>
   <translation>erstes Wort in weniger als 0,1 s</translation>
  </message>
  <message>
   <location filename="../../app/charts/card.py" />
   <source>folded</source>
   <translation>eingeklappt</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>free</source>
   <translation>frei</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>frees {count}{where}{behind}</source>
   <translation>gibt {count}{where} frei{behind}</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>from a proof or a title</source>
   <translation>von einer Probe oder einem Titel</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>from disk</source>
   <translation>von der Platte</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>from main memory</source>
   <translation>aus dem Hauptspeicher</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/charts/headline.py" />
   <location filename="../../app/proof/dialog.py" />
   <location filename="../../app/widgets/conversation_list.py" />
   <source>from scratch</source>
   <translation>von vorn</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>from scratch {about_span}</source>
   <translation>von vorn {about_span}</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>from scratch {exact_seconds}</source>
   <translation>von vorn {exact_seconds}</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>in </source>
   <translation>in </translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>in all conversations</source>
   <translation>in allen Unterhaltungen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>in main memory</source>
   <translation>im Hauptspeicher</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>in main memory only</source>
   <translation>nur im Hauptspeicher</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>in the GPU's memory</source>
   <translation>im Speicher der Grafikkarte</translation>
  </message>
  <message>
   <location filename="../../app/chat/places.py" />
   <source>in the tools</source>
   <translation>in den Werkzeugen</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>in this conversation</source>
   <translation>in dieser Unterhaltung</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>in use</source>
   <translation>in Gebrauch</translation>
  </message>
  <message>
   <location filename="../../app/chat/places.py" />
   <source>in {ordinal_place}</source>
   <translation>in {ordinal_place}</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>instead of</source>
   <translation>statt</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>instead of {cold_time}, {share}</source>
   <translation>statt {cold_time}, {share}</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>int4, for decoding</source>
   <translation>int4, zum Schreiben</translation>
  </message>
  <message>
   <location filename="../../app/window/preferences.py" />
   <source>int8, for decoding</source>
   <translation>int8, zum Schreiben</translation>
  </message>
  <message>
   <location filename="../../app/charts/export.py" />
   <source>it cannot be written</source>
   <translation>dort kann nicht geschrieben werden</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>it was new</source>
   <translation>es war neu</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>just now</source>
   <translation>gerade eben</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/widgets/ribbon_cells.py" />
   <location filename="../../app/window/header.py" />
   <source>kept</source>
   <translation>behalten</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>keys and values in 8 bits</source>
   <translation>Schlüssel und Werte in 8 Bit</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>length limit</source>
   <translation>größte Länge</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>longer than the model reads</source>
   <translation>länger, als das Modell liest</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/transcript/stat_strip.py" />
   <source>look-up</source>
   <translation>Nachschlagen</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>more than rounding explains</source>
   <translation>mehr, als das Runden erklärt</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>more than the model reads</source>
   <translation>mehr, als das Modell liest</translation>
  </message>
  <message>
   <location filename="../../app/charts/memory.py" />
   <source>newest</source>
   <translation>jetzt</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>no sooner</source>
   <translation>nicht früher</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>no sooner than from scratch, {share}</source>
   <translation>nicht früher als von vorn, {share}</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>not sent before</source>
   <translation>noch nicht gesendet</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>nothing is read again</source>
   <translation>nichts wird erneut gelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>now</source>
   <translation>jetzt</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>older</source>
   <translation>älter</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>oldest turns left out</source>
   <translation>älteste Runden weggelassen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>on disk</source>
   <translation>auf der Platte</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>on disk only</source>
   <translation>nur auf der Platte</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <location filename="../../app/proof/proof.py" />
   <source>one token</source>
   <translation>ein Token</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>one token after it is read again</source>
   <translation>ein Token dahinter neu zu lesen</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>or just start writing</source>
   <translation>oder einfach losschreiben</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>other positions, once</source>
   <translation>andere Positionen, einmalig</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>other tools</source>
   <translation>andere Werkzeuge</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>others needed the memory</source>
   <translation>andere brauchten den Speicher</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>past it, this model computes positions in another way; this happens once</source>
   <translation>von dort an berechnet dieses Modell Positionen anders; das geschieht einmal</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>paused{share}</source>
   <translation>angehalten{share}</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/picture.py" />
   <location filename="../../app/charts/tree/window.py" />
   <location filename="../../app/charts/tree/words.py" />
   <source>pinned</source>
   <translation>angeheftet</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>prefill</source>
   <translation>Lesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>queue</source>
   <translation>Warten</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>random</source>
   <translation>zufällig</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>read</source>
   <translation>gelesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/proof/dialog.py" />
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>read ahead</source>
   <translation>vorausgelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>read ahead: {ahead:,} of {ahead2:,}</source>
   <translation>vorausgelesen: {ahead:,} von {ahead2:,}</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>read now</source>
   <translation>jetzt gelesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>read {recomputed_tokens:,} again: {why}</source>
   <translation>{recomputed_tokens:,} neu gelesen: {why}</translation>
  </message>
  <message>
   <location filename="../../app/transcript/stat_strip.py" />
   <source>reading</source>
   <translation>lesen</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>reading the prompt</source>
   <translation>der Prompt wird gelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>reading {done:,} of {total:,} tokens{left}</source>
   <translation>{done:,} von {total:,} Token gelesen{left}</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>reasoning left out</source>
   <translation>Gedanken weggelassen</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/proof/dialog.py" />
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>remembered</source>
   <translation>gemerkt</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>remembered there</source>
   <translation>dort gemerkt</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>remembered{place}</source>
   <translation>gemerkt{place}</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>remembering</source>
   <translation>mit Gemerktem</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>remembering is off</source>
   <translation>Merken ist aus</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>remembering was off</source>
   <translation>Merken war ausgeschaltet</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>restore</source>
   <translation>Zurückholen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/stat_strip.py" />
   <source>restoring</source>
   <translation>zurückholen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>sent with {added}</source>
   <translation>gesendet mit {added}</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>since installation</source>
   <translation>seit der Installation</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>so close that rounding decides</source>
   <translation>so nahe, dass das Runden entscheidet</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>stopped</source>
   <translation>angehalten</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>system prompt moved</source>
   <translation>System-Prompt verschoben</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>template</source>
   <translation>Vorlage</translation>
  </message>
  <message>
   <location filename="../../app/transcript/stat_strip.py" />
   <source>template and tokens</source>
   <translation>Vorlage und Token</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the cache is switched off</source>
   <translation>der Cache ist ausgeschaltet</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the cache was full, and other programs that use this model needed the room</source>
   <translation>der Cache war voll, und andere Programme, die dieses Modell nutzen, brauchten den Platz</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the cache was full, and what was not used for longest had to go</source>
   <translation>der Cache war voll, und was am längsten nicht gebraucht wurde, musste weichen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the chat template of this model begins an answer otherwise once it is written</source>
   <translation>die Chat-Vorlage dieses Modells beginnt eine Antwort anders, sobald sie geschrieben ist</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the chat template of this model leaves out earlier reasoning</source>
   <translation>die Chat-Vorlage dieses Modells lässt frühere Gedanken weg</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the chat template of this model moves the system prompt behind each new question</source>
   <translation>die Chat-Vorlage dieses Modells schiebt den System-Prompt hinter jede neue Frage</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the chat template of this model puts an empty thought into earlier answers</source>
   <translation>die Chat-Vorlage dieses Modells setzt einen leeren Gedanken in frühere Antworten</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>the end</source>
   <translation>das Ende</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>the first {left_out:,} messages</source>
   <translation>die ersten {left_out:,} Nachrichten</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>the first {reused_tokens:,} as sent before</source>
   <translation>die ersten {reused_tokens:,} wie schon gesendet</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>the memory was full</source>
   <translation>der Speicher war voll</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>the model itself takes {size}</source>
   <translation>das Modell selbst belegt {size}</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the oldest messages were left out to make room in the context</source>
   <translation>die ältesten Nachrichten wurden weggelassen, um im Kontext Platz zu schaffen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>the system prompt</source>
   <translation>dem System-Prompt</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>the text differs</source>
   <translation>der Text ist anders</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the text there was edited</source>
   <translation>der Text dort wurde geändert</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>the token that both wrote is</source>
   <translation>ist das Token, das beide schrieben,</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>the tools are others, or in another order</source>
   <translation>es sind andere Werkzeuge, oder in anderer Reihenfolge</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>the {ordinal} answer</source>
   <translation>der {ordinal} Antwort</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>the {ordinal} tool result</source>
   <translation>dem {ordinal} Ergebnis eines Werkzeugs</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>the {tokens} that both wrote are</source>
   <translation>sind die {tokens}, die beide schrieben,</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>time</source>
   <translation>Zeit</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>to read</source>
   <translation>zu lesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>tokens {start:,} to {start2:,}</source>
   <translation>Token {start:,} bis {start2:,}</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>too short a prompt to compare</source>
   <translation>für einen Vergleich ist der Prompt zu kurz</translation>
  </message>
  <message>
   <location filename="../../app/charts/card.py" />
   <source>turn</source>
   <translation>Runde</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>until it is edited; then {read}{time}.</source>
   <translation>bis es geändert wird; dann: {read}{time}.</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>up to {length:,} tokens</source>
   <translation>bis zu {length:,} Token</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>used {age}</source>
   <translation>zuletzt gebraucht {age}</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>waiting for the model</source>
   <translation>wartet auf das Modell</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>waiting for the model to be loaded</source>
   <translation>wartet, bis das Modell geladen ist</translation>
  </message>
  <message>
   <location filename="../../app/transcript/stat_strip.py" />
   <source>waiting its turn</source>
   <translation>warten, bis sie dran ist</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <location filename="../../app/charts/headline.py" />
   <source>with Headstart</source>
   <translation>mit Headstart</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <location filename="../../app/words.py" />
   <source>written ahead</source>
   <translation>vorausgeschrieben</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>written by you</source>
   <translation>von Ihnen geschrieben</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>yesterday</source>
   <translation>gestern</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>your {ordinal} message</source>
   <translation>Ihrer {ordinal} Nachricht</translation>
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
   <location filename="../../engine/weights/mapped_file.py" />
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
   <location filename="../../engine/weights/mapped_file.py" />
   <source>{1} was changed while its model was open, or its disk cannot be read any more: open it again when nothing writes to it.</source>
   <translation>{1} wurde geändert, während sein Modell geöffnet war, oder seine Platte kann nicht mehr gelesen werden: Öffnen Sie es noch einmal, wenn nichts mehr hineinschreibt.</translation>
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
   <location filename="../../app/words.py" />
   <source>{accepted_tokens:.1f} tokens a pass written ahead</source>
   <translation>{accepted_tokens:.1f} Token je Durchgang vorausgeschrieben</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>{after} instead of {cold}</source>
   <translation>{after} statt {cold}</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>{after}, from scratch {cold}</source>
   <translation>{after}, von vorn {cold}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{age_s} days ago</source>
   <translation>vor {age_s} Tagen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{age_s} h ago</source>
   <translation>vor {age_s} h</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{age_s} min ago</source>
   <translation>vor {age_s} min</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{age_s} s ago</source>
   <translation>vor {age_s} s</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{ahead_tokens:,} read ahead</source>
   <translation>{ahead_tokens:,} vorausgelesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>{ahead_tokens:,} read ahead, </source>
   <translation>{ahead_tokens:,} vorausgelesen, </translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{before} · {total:,} to read</source>
   <translation>{before} · {total:,} zu lesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{before} · {words}{total:,} read</source>
   <translation>{before} · {words}{total:,} gelesen</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>{beside}; it is answered as soon as the model is loaded.</source>
   <translation>{beside}; beantwortet wird es, sobald das Modell geladen ist.</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{chosen} · thinking {thinking}</source>
   <translation>{chosen} · Nachdenken {thinking}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{computed_tokens:,} read</source>
   <translation>{computed_tokens:,} gelesen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>{cost} had to be read again</source>
   <translation>{cost} mussten erneut gelesen werden</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>{cost} of memory</source>
   <translation>{cost} Speicher</translation>
  </message>
  <message>
   <location filename="../../app/window/dialogs.py" />
   <source>{cost}. At least {least_budget}.</source>
   <translation>{cost}. Mindestens {least_budget}.</translation>
  </message>
  <message>
   <location filename="../../app/composer/file_row.py" />
   <source>{count:,} characters</source>
   <translation>{count:,} Zeichen</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>{count:,} characters, made tokens with the next question</source>
   <translation>{count:,} Zeichen, mit der nächsten Frage in Token zerlegt</translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/charts/tree/picture.py" />
   <location filename="../../app/window/exchanging.py" />
   <source>{count:,} conversations</source>
   <translation>
    <numerusform>{count:,} Unterhaltung</numerusform>
    <numerusform>{count:,} Unterhaltungen</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/charts/tree/words.py" />
   <source>{count:,} hits</source>
   <translation>
    <numerusform>{count:,} Treffer</numerusform>
    <numerusform>{count:,} Treffer</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/system_prompt/presets.py" />
   <source>{count:,} presets</source>
   <translation>
    <numerusform>{count:,} Vorlage</numerusform>
    <numerusform>{count:,} Vorlagen</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/charts/tree/words.py" />
   <source>{count:,} runs</source>
   <translation>
    <numerusform>{count:,} Abschnitt</numerusform>
    <numerusform>{count:,} Abschnitte</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/charts/tree/picture.py" />
   <location filename="../../app/charts/tree/words.py" />
   <location filename="../../app/proof/proof.py" />
   <location filename="../../app/words.py" />
   <source>{count:,} tokens</source>
   <translation>
    <numerusform>{count:,} Token</numerusform>
    <numerusform>{count:,} Token</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/words.py" />
   <source>{count:,} tokens are others than sent before</source>
   <translation>
    <numerusform>{count:,} Token ist anders als schon gesendet</numerusform>
    <numerusform>{count:,} Token sind anders als schon gesendet</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/words.py" />
   <source>{count:,} tokens are read again, about {time}</source>
   <translation>
    <numerusform>{count:,} Token wird erneut gelesen, etwa {time}</numerusform>
    <numerusform>{count:,} Token werden erneut gelesen, etwa {time}</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/window/tooling.py" />
   <source>{count:,} tools</source>
   <translation>
    <numerusform>{count:,} Werkzeug</numerusform>
    <numerusform>{count:,} Werkzeuge</numerusform>
   </translation>
  </message>
  <message numerus="yes">
   <location filename="../../app/charts/headline.py" />
   <source>{count:,} turns</source>
   <translation>
    <numerusform>{count:,} Runde</numerusform>
    <numerusform>{count:,} Runden</numerusform>
   </translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>{count:,} {name}</source>
   <translation>{count:,} {name}</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>{count:,} {state}</source>
   <translation>{count:,} {state}</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>{count} conversations</source>
   <translation>{count} Unterhaltungen</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>{count} imported.{left}</source>
   <translation>{count} importiert.{left}</translation>
  </message>
  <message>
   <location filename="../../app/widgets/ribbon_cells.py" />
   <source>{count} more</source>
   <translation>{count} weitere</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>{count} taken in{there}.</source>
   <translation>{count} übernommen{there}.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>{count} written to {name}.</source>
   <translation>{count} in {name} geschrieben.</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{day} {month}</source>
   <translation>{day}. {month}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{done:,} of </source>
   <translation>{done:,} von </translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{each}, {accepted_tokens:,} of {guessed_tokens:,} guesses held</source>
   <translation>{each}, {accepted_tokens:,} von {guessed_tokens:,} geratenen stimmten</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>{error} Give another name, or replace its text:</source>
   <translation>{error} Geben Sie einen anderen Namen an, oder ersetzen Sie ihren Text:</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>{error} Give another name.</source>
   <translation>{error} Geben Sie einen anderen Namen an.</translation>
  </message>
  <message>
   <location filename="../../app/window/graphics_card.py" />
   <source>{has}{why} Torch's build {build} can use it: {size} to download, {size2} on disk, where {size3} are free.</source>
   <translation>{has}{why} Torchs Ausgabe {build} kann sie nutzen: {size} zu laden, {size2} auf der Platte, wo {size3} frei sind.</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>{kept:,} pinned</source>
   <translation>{kept:,} angeheftet</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>{label}: {more}all of it reused.</source>
   <translation>{label}: {more}alles davon wiederverwendet.</translation>
  </message>
  <message>
   <location filename="../../app/window/open_model.py" />
   <source>{length:,} tokens</source>
   <translation>{length:,} Token</translation>
  </message>
  <message>
   <location filename="../../app/window/dialogs.py" />
   <source>{listed}

Headstart closes and deletes it for good. Models that you opened from elsewhere stay there.</source>
   <translation>{listed}

Headstart schließt sich und löscht es endgültig. Modelle, die Sie von anderswo geöffnet haben, bleiben dort.</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{low} to {high} {name}</source>
   <translation>{low} bis {high} {name}</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>{many} tokens not read again</source>
   <translation>{many} Token nicht erneut gelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{max:.2f} s</source>
   <translation>{max:.2f} s</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/picture.py" />
   <source>{name}  {tokens:,}</source>
   <translation>{name}  {tokens:,}</translation>
  </message>
  <message>
   <location filename="../../app/prices.py" />
   <source>{name} (prices of {as_of}): {dollars} with its cache, {dollars2} without</source>
   <translation>{name} (Preise von {as_of}): {dollars} mit dessen Cache, {dollars2} ohne</translation>
  </message>
  <message>
   <location filename="../../app/window/conversation_model.py" />
   <source>{name} answered in this conversation, and {name2} is open. To open {name}, {size} are read from disk{forgets}.</source>
   <translation>In dieser Unterhaltung antwortete {name}, und {name2} ist geöffnet. Um {name} zu öffnen, werden {size} von der Platte gelesen{forgets}.</translation>
  </message>
  <message>
   <location filename="../../app/window/exchanging.py" />
   <source>{name} could not be written: {strerror}.</source>
   <translation>{name} konnte nicht geschrieben werden: {strerror}.</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source>{name} guesses what the open model writes. Switch that off first.</source>
   <translation>{name} schreibt für das offene Modell voraus. Schalten Sie das zuerst ab.</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>{name} is here, and was checked.</source>
   <translation>{name} ist da und wurde geprüft.</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source>{name} is open. Open another model first, then delete it.</source>
   <translation>{name} ist geöffnet. Öffnen Sie zuerst ein anderes Modell, und löschen Sie es dann.</translation>
  </message>
  <message>
   <location filename="../../app/window/presenter.py" />
   <source>{name} still answers.</source>
   <translation>{name} antwortet weiterhin.</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source>{name} was downloaded.</source>
   <translation>{name} wurde heruntergeladen.</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>{name} {part:.3f} s</source>
   <translation>{name} {part:.3f} s</translation>
  </message>
  <message>
   <location filename="../../app/transcript/stat_strip.py" />
   <source>{name} {value:.3f} s</source>
   <translation>{name} {value:.3f} s</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>{number:,.1f} million</source>
   <translation>{number:,.1f} Millionen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{number:,}{ending}</source>
   <comment>1st, 2nd, 3rd</comment>
   <translation>{number:,}.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/find_bar.py" />
   <source>{number} of {of} messages</source>
   <translation>{number} von {of} Nachrichten</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{percent} read ahead</source>
   <translation>{percent} vorausgelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{percent} remembered{disk_words}</source>
   <translation>{percent} gemerkt{disk_words}</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>{place} changed</source>
   <translation>ab {place}</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>{quote} remembering, {quote2} from scratch</source>
   <translation>{quote} mit Gemerktem, {quote2} von vorn</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{ratio:,.0f} times sooner</source>
   <translation>{ratio:,.0f}-mal früher</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{ratio:.1f} times sooner</source>
   <translation>{ratio:.1f}-mal früher</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{read}, and each prompt is about {tokens} longer</source>
   <translation>{read}, und jeder Prompt ist etwa {tokens} länger</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>{remembered:,} of {prompt_tokens:,} tokens are remembered{ahead}</source>
   <translation>{remembered:,} von {prompt_tokens:,} Token sind gemerkt{ahead}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{remembered:,} of {tokens} remembered{from_disk}</source>
   <translation>{remembered:,} von {tokens} gemerkt{from_disk}</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>{remembered:,} remembered, {ahead}{computed_tokens:,} read</source>
   <translation>{remembered:,} gemerkt, {ahead}{computed_tokens:,} gelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{remembered:,} remembered{from_disk}</source>
   <translation>{remembered:,} gemerkt{from_disk}</translation>
  </message>
  <message>
   <location filename="../../app/proof/proof.py" />
   <source>{remembered:,} tokens</source>
   <translation>{remembered:,} Token</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>{reused_tokens:,} of {tokens} of its next prompt are remembered</source>
   <translation>{reused_tokens:,} von {tokens} ihres nächsten Prompts sind gemerkt</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{reused_tokens:,} of {tokens} remembered{disk}</source>
   <translation>{reused_tokens:,} von {tokens} gemerkt{disk}</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>{roles}: raw text and details</source>
   <translation>{roles}: roher Text und Einzelheiten</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{rounded} min</source>
   <translation>{rounded} min</translation>
  </message>
  <message>
   <location filename="../../app/composer/attaching.py" />
   <source>{sentence} It was not attached.</source>
   <translation>{sentence} Die Datei wurde nicht angehängt.</translation>
  </message>
  <message>
   <location filename="../../app/composer/attaching.py" />
   <source>{sentence} There is no room left for a part of it.</source>
   <translation>{sentence} Auch für einen Teil davon ist kein Platz.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>{share}; the first word comes after about {about_seconds}.</source>
   <translation>{share}; das erste Wort kommt nach etwa {about_seconds}.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message.py" />
   <source>{shortened_line} · {count:,} characters</source>
   <translation>{shortened_line} · {count:,} Zeichen</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>{shown}  ({count:,})</source>
   <translation>{shown}  ({count:,})</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>{shown} and {count} more</source>
   <translation>{shown} und {count} weitere</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>{shown} goes with the newest message from now on. The system prompt is read once more; after that it stays the same.</source>
   <translation>{shown} geht von jetzt an mit der neuesten Nachricht. Der System-Prompt wird noch einmal gelesen; danach bleibt er gleich.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/cure_offer.py" />
   <source>{shown} stays “{value}” in this conversation.</source>
   <translation>{shown} bleibt in dieser Unterhaltung „{value}“.</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>{size} a second</source>
   <translation>{size} je Sekunde</translation>
  </message>
  <message>
   <location filename="../../app/models/presenter.py" />
   <source>{size} become free in {parent}. Conversations stay.{again}</source>
   <translation>In {parent} werden {size} frei. Unterhaltungen bleiben.{again}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{size} beside it for texts and token ids</source>
   <translation>{size} daneben für Texte und Token-Nummern</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{size} in main memory behind the GPU</source>
   <translation>{size} im Hauptspeicher hinter der Grafikkarte</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{size} is too little memory for {name}. It takes {least_budget}.</source>
   <translation>{size} sind zu wenig Speicher für {name}. Es nimmt {least_budget}.</translation>
  </message>
  <message>
   <location filename="../../app/charts/cards.py" />
   <source>{size} of {size2}</source>
   <translation>{size} von {size2}</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>{size} of {size2} memory</source>
   <translation>{size} von {size2}</translation>
  </message>
  <message>
   <location filename="../../app/sidebar/sidebar.py" />
   <source>{size} on disk</source>
   <translation>{size} auf der Platte</translation>
  </message>
  <message>
   <location filename="../../app/models/dialog.py" />
   <source>{size}, too much</source>
   <translation>{size}, zu viel</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{size}: one whole conversation of {tokens}</source>
   <translation>{size}: eine ganze Unterhaltung von {tokens}</translation>
  </message>
  <message>
   <location filename="../../app/window/rewriting_presenter.py" />
   <source>{split} · next prompt: {recomputes}</source>
   <translation>{split} · nächster Prompt: {recomputes}</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>{text_} goes with the newest message; the system prompt stays the same.</source>
   <translation>{text_} geht mit der neuesten Nachricht; der System-Prompt bleibt gleich.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>{text_} stays “{value}” in this conversation.</source>
   <translation>{text_} bleibt in dieser Unterhaltung „{value}“.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>{text_} {changes}, but costs nothing more while what stands before it changes as often.</source>
   <translation>{text_} {changes}, kostet aber nichts zusätzlich, solange sich ebenso oft ändert, was davor steht.</translation>
  </message>
  <message>
   <location filename="../../app/widgets/next_prompt.py" />
   <source>{text_}; arrow keys go through its cells</source>
   <translation>{text_}; die Pfeiltasten gehen durch seine Zellen</translation>
  </message>
  <message>
   <location filename="../../app/charts/headline.py" />
   <source>{time} saved {where}, {tokens}</source>
   <translation>{time} {where} gespart, {tokens}</translation>
  </message>
  <message>
   <location filename="../../app/window/header.py" />
   <source>{title}
Double-click to rename</source>
   <translation>{title}
Doppelklick benennt um</translation>
  </message>
  <message>
   <location filename="../../app/chat/filing.py" />
   <source>{title} (branch)</source>
   <translation>{title} (Zweig)</translation>
  </message>
  <message>
   <location filename="../../app/chat/filing.py" />
   <source>{title} (copy)</source>
   <translation>{title} (Kopie)</translation>
  </message>
  <message>
   <location filename="../../app/composer/attaching.py" />
   <source>{title} has about {tokens}, and the model reads {context:,} with everything else.</source>
   <translation>{title} hat etwa {tokens}, und das Modell liest mit allem anderen {context:,}.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/editor.py" />
   <location filename="../../app/window/header.py" />
   <source>{tokens:,} tokens</source>
   <translation>{tokens:,} Token</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>{tokens:,} tokens after it are read again</source>
   <translation>{tokens:,} Token dahinter neu zu lesen</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>{tokens:,} {place}</source>
   <translation>{tokens:,} {place}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{tokens_per_s:,.0f} tokens a second</source>
   <translation>{tokens_per_s:,.0f} Token je Sekunde</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>{tokens_per_s:.1f} tokens a second</source>
   <translation>{tokens_per_s:.1f} Token je Sekunde</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{tokens} too long for this model</source>
   <translation>{tokens} zu lang für dieses Modell</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{tokens} were read ahead since the model was opened; {sent}.</source>
   <translation>{tokens} wurden vorausgelesen, seit das Modell geöffnet ist; {sent}.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>{tokens}, kept as the model wrote them</source>
   <translation>{tokens}, behalten, wie das Modell sie schrieb</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>{tokens}: {reused_tokens:,} remembered, {computed_tokens:,} read</source>
   <translation>{tokens}: {reused_tokens:,} gemerkt, {computed_tokens:,} gelesen</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{unasked_tokens:,} of them nobody sent so far</source>
   <translation>{unasked_tokens:,} davon hat bisher niemand gesendet</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>{value:,.0f}
tokens</source>
   <translation>{value:,.0f}
Token</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{value:,.1f} s</source>
   <translation>{value:,.1f} s</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>{value:,} h {value2} min</source>
   <translation>{value:,} h {value2} min</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{value:.0f} ms</source>
   <translation>{value:.0f} ms</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{value:.2f} s</source>
   <translation>{value:.2f} s</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <location filename="../../app/words.py" />
   <source>{value:.3f} s</source>
   <translation>{value:.3f} s</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>{value:.4g} s</source>
   <translation>{value:.4g} s</translation>
  </message>
  <message>
   <location filename="../../app/charts/words.py" />
   <source>{value} min {value2} s</source>
   <translation>{value} min {value2} s</translation>
  </message>
  <message>
   <location filename="../../app/transcript/message_dialog.py" />
   <source>{version} of {versions}</source>
   <translation>{version} von {versions}</translation>
  </message>
  <message>
   <location filename="../../app/widgets/conversation_list.py" />
   <source>{warmth}, about {about_seconds}</source>
   <translation>{warmth}, etwa {about_seconds}</translation>
  </message>
  <message>
   <location filename="../../app/charts/tree/words.py" />
   <source>{where} only: {sum}</source>
   <translation>{where}: {sum}</translation>
  </message>
  <message>
   <location filename="../../app/composer/sampling.py" />
   <source>{whose}, from the next answer on.</source>
   <translation>{whose}, ab der nächsten Antwort.</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{words:.0f}%</source>
   <translation>{words:.0f}%</translation>
  </message>
  <message>
   <location filename="../../app/proof/dialog.py" />
   <source>{written_tokens:,} tokens written {words}</source>
   <translation>{written_tokens:,} Token geschrieben, {words}</translation>
  </message>
  <message>
   <location filename="../../app/words.py" />
   <source>{written_tokens:,} written</source>
   <translation>{written_tokens:,} geschrieben</translation>
  </message>
  <message>
   <location filename="../../app/transcript/divergence_box.py" />
   <source>“Use the cache”, in the menu, reads only what is new.</source>
   <translation>„Gelesenes merken“, im Menü, liest nur, was neu ist.</translation>
  </message>
  <message>
   <location filename="../../engine/library/hub.py" />
   <source>“{1}” is no name of a model on the Hub, {2}: check it.</source>
   <translation>„{1}“ ist kein Name eines Modells auf dem Hub, {2}: Prüfen Sie ihn.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>“{name}” has variables of its own. What is left empty stays as it is written.</source>
   <translation>„{name}“ hat eigene Variablen. Was leer bleibt, bleibt, wie es geschrieben ist.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/presets.py" />
   <source>“{name}” is deleted.</source>
   <translation>„{name}“ ist gelöscht.</translation>
  </message>
  <message>
   <location filename="../../app/transcript/difference.py" />
   <source>“{new}” is new</source>
   <translation>„{new}“ ist neu</translation>
  </message>
  <message>
   <location filename="../../app/transcript/difference.py" />
   <source>“{old}” became “{new}”</source>
   <translation>„{old}“ wurde zu „{new}“</translation>
  </message>
  <message>
   <location filename="../../app/transcript/difference.py" />
   <source>“{old}” is gone</source>
   <translation>„{old}“ ist weg</translation>
  </message>
  <message>
   <location filename="../../app/window/filing_presenter.py" />
   <source>“{said}” is deleted.</source>
   <translation>„{said}“ ist gelöscht.</translation>
  </message>
  <message>
   <location filename="../../app/system_prompt/findings.py" />
   <source>“{shown}” looks like {kind} that was pasted. It costs nothing {later}</source>
   <translation>„{shown}“ sieht aus wie {kind} in einem eingefügten Text. Das kostet nichts, {later}</translation>
  </message>
  <message>
   <location filename="../../app/charts/memory.py" />
   <source>↑ most it may take, not to scale</source>
   <translation>↑ die Obergrenze, nicht maßstäblich</translation>
  </message>
 </context>
</TS>
