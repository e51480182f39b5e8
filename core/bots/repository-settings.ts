// `.github/portcullis-bot.yml` of a repository's default branch: which personas are on, and which words of an issue mean which label. A closed grammar of
// two sections, so that whoever may push there decides about these two things and nothing else.
import { type BotPersona, botPersonas } from "../../contracts/src/records/githubbot.ts";

export const settingsPath = ".github/portcullis-bot.yml";
export const settingsBytesMax = 8_000;

export interface RepositorySettings {
  readonly off: ReadonlySet<BotPersona>;
  readonly words: Readonly<Record<string, string>>;
  /** Lines that say nothing of the two. */
  readonly unread: readonly number[];
}

const entry = /^ {1,8}("?)([A-Za-z0-9][A-Za-z0-9 ._-]{0,60})\1: *("?)([^"#]{1,100}?)\3 *(?:#.*)?$/;

/** A file that is not there says what an empty one does. */
export function readSettings(text: string | undefined): RepositorySettings {
  const off = new Set<BotPersona>();
  const words: Record<string, string> = Object.create(null) as Record<string, string>;
  const unread: number[] = [];
  let section: string | undefined;
  for (const [index, line] of (text ?? "").slice(0, settingsBytesMax).split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const heading = /^(personas|labels):\s*$/.exec(line)?.[1];
    const found = entry.exec(line);
    if (heading !== undefined) section = heading;
    else if (section === "personas" && found !== null && setPersona(off, found[2], found[4])) continue;
    else if (section === "labels" && found?.[2] !== undefined && found[4] !== undefined)
      words[found[2].toLowerCase()] = found[4].trim();
    else unread.push(index + 1);
  }
  return { off, words, unread };
}

/** False where the line says neither on nor off of a persona. */
function setPersona(off: Set<BotPersona>, name: string | undefined, state: string | undefined): boolean {
  const persona = botPersonas.find((each) => each === name);
  if (persona === undefined || !/^(on|off|true|false)$/.test(state ?? "")) return false;
  if (state === "off" || state === "false") off.add(persona);
  else off.delete(persona);
  return true;
}
