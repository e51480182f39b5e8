// Words of our own where the field has one. A risk officer, an execution engineer and a new maintainer read code, messages and docs with the
// vocabulary they already have (docs/glossary.md), so a private word is a complaint that names the field's. "told", "wish" and "look at" are
// English in a sentence and private in a name. Two phrases are what a careless replacement of them leaves behind.

interface PrivateWord {
  readonly word: RegExp;
  readonly say: string;
  /** Lines in which it is a name on the wire, in storage or of a verb, or means what it means in English. */
  readonly except?: RegExp;
}

const wire = /PaperWeather|WEATHER_NOT_PAPER|paper[._-]weather|paper weather|oms\.weather|"weather"|weather (set|show)/;

export const privateWords: readonly PrivateWord[] = [
  { word: /\brig(s|ged)?\b|(?<=\w)Rigs?\b/, say: "fixture" },
  { word: /(?<=\w)Grounds?\b|\bmemory world\b|(?<=\w)Worlds?\b/, say: "fixture, or tables" },
  { word: /(?<=[A-Za-z])Told|\b(told|Told|untold|Untold)(?=[A-Z])/, say: "reported, notified, audited" },
  {
    word: /\btellers?\b|(?<=\w)Teller\b/i,
    say: "publisher",
    except: /halt_told|\bteller\b.*(halt_id|row\.)|readonly teller|row\.teller/,
  },
  { word: /(?<=[A-Za-z])Wish|\bWish(es)?\b|\b([wW]ish(es)?)(?=[A-Z])/, say: "request" },
  {
    word: /\bpens?\b|(?<=\w)Pens?\b/,
    say: "writer epoch",
    except:
      /risk_pen|take_pen|with_pen|audit_head|select pen|\bpen::text|known\.pen|rows\[0\]\?\.pen|row\.pen|taken\?\.pen|set pen = |where pen = |\(pen,/,
  },
  { word: /\bladders?\b|(?<=\w)Ladders?\b/i, say: "resume workflow", except: /cash[ _]?ladder/i },
  { word: /\bforesee(s|n)?\b/i, say: "pre-encode" },
  { word: /\bbringNear\b/, say: "prefetch" },
  { word: /\bsheets?\b|(?<=\w)Sheets?\b/, say: "fund state", except: /style ?sheet/i },
  { word: /\bworthless\b/i, say: "zero" },
  { word: /\bdice\b|\bDice\b|(?<=\w)Dice\b/, say: "PRNG, random" },
  { word: /\bweather\b|(?<=\w)Weather\b/i, say: "faults", except: wire },
  { word: /\bblows?\b/, say: "kill", except: /fork\("blows"\)/ },
  { word: /\broads?\b/, say: "network", except: /fork\("roads"\)/ },
  { word: /(?<=\w)Desks?\b/, say: "queries", except: /\b(Risk|Audit|Halt|Market)Desk\b/ },
  { word: /\b(is|are) reported (the|it|them)\b/, say: "told, or reported to" },
  { word: /\ba read (the|an|of a)\b/, say: "a look at" },
];

const judged = /\.(tsx?|js|md|proto|ya?ml)$/;

/** Applied migrations and what is generated or said of the past stay as they are. */
const exempt =
  /generated\/|^adapters\/postgres\/migrations\/|^CHANGELOG\.md$|^testkit\/tidy\/private-words|^tidy\.test\.ts$/;

export function privateWordComplaints(path: string, text: string): readonly string[] {
  if (!judged.test(path) || exempt.test(path)) return [];
  // Most files have none of them, which is seen sooner of a whole text than line by line.
  const met = privateWords.filter(({ word }) => word.test(text));
  if (met.length === 0) return [];
  return text
    .split("\n")
    .flatMap((line, index) =>
      met
        .filter(({ word, except }) => word.test(line) && !(except?.test(line) ?? false))
        .map(({ word, say }) => `${path}:${index + 1} ${JSON.stringify(wholeWord(line, word))}: say ${say}`),
    );
}

function wholeWord(line: string, word: RegExp): string {
  const found = word.exec(line);
  if (found === null) return "";
  return (/\w*$/.exec(line.slice(0, found.index))?.[0] ?? "") + found[0];
}

/** What a rename by search left behind. */
const broken = /\b(is|are) reported (the|it|them)\b|\ba read (the|an|of a)\b/i;

export function brokenGrammar(path: string, text: string): readonly string[] {
  if (!judged.test(path) || exempt.test(path) || !broken.test(text)) return [];
  return text.split("\n").flatMap((line, index) => (broken.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []));
}
