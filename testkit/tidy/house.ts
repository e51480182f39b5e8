// The size and shape of the house in figures, and what of it is held: rooms of the core that import each other, files that no program reaches, exports
// that nobody takes, loops that wait by themselves, sentences that a rename broke, and two counts that may fall but not grow.
import { posix } from "node:path";
import { handWrittenLoops } from "./hand-written-loops.ts";
import { exportsOf, type ImportedNames, importedNames } from "./imported-names.ts";
import { brokenGrammar } from "./private-words.ts";
import { roomOf } from "./rules.ts";
import { parseSource } from "./source.ts";

export interface House {
  readonly rooms: readonly { readonly room: string; readonly files: number; readonly lines: number }[];
  readonly held: readonly Held[];
}

export interface Held {
  readonly name: string;
  readonly most: number;
  readonly found: readonly string[];
  /** What to do where there are more. */
  readonly instead: string;
}

const productRooms = /^(contracts|core|reports|ports|adapters|services|edges|composition|verifier)$/;
const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path);
const isSource = (path: string): boolean => /\.(tsx?|js)$/.test(path);
const isGenerated = (path: string): boolean => path.includes("/generated/");

function isProduct(path: string): boolean {
  return isSource(path) && !isTest(path) && !isGenerated(path) && productRooms.test(roomOf(path));
}

/** What somebody starts or installs, so that what they export is taken outside: everything else is there because one of these reaches it. */
const programs = [
  "main.ts",
  "supervisor/service-process.ts",
  "compose/report-process.ts",
  "compose/bot-mind.ts",
  "compose/ctl.ts",
  "compose/web.tsx",
  "edges/client/src/index.ts",
  "edges/ctl/bin/ctl.js",
  "edges/ctl/bin/report.js",
  "verifier/audit-verify.js",
];
const startsProduct = /^(bin|scripts)\/.*\.js$/;

/** Lists of one shape, one file an entry. */
const listFolders =
  /^(ports|adapters\/postgres\/migrations|edges\/ctl\/verbs|core\/(gates|watchdogs|blocks)|edges\/gateway\/routes)\/|^core\/filings\/[a-z]+\/[a-z]+-regime\.ts$/;
const smallLines = 40;

/** Counts that may fall and not grow; the first two are to come down to none. */
const unreachedMax = 0;
const exportsMax = 0;
const customRoutesMax = 28;
const smallFilesMax = 116;

export function houseOf(texts: ReadonlyMap<string, string>): House {
  const sources = new Map([...texts].filter(([path]) => isSource(path)));
  const names = importedNames(sources);
  const product = [...sources.keys()].filter(isProduct);
  return {
    rooms: roomsOf(product, sources),
    held: [
      {
        name: "pairs of rooms of the core that import each other",
        most: 0,
        found: corePairs(product, names),
        instead: "the order is in testkit/tidy/rooms.ts: move the noun down to core/state, or hand the value in",
      },
      {
        name: "loops of services that wait by themselves",
        most: 0,
        found: loopsByHand(product, sources),
        instead: "take services/shared/loop.ts",
      },
      {
        name: "product files that no program reaches",
        most: unreachedMax,
        found: unreached(product, names),
        instead: "delete it, or move what serves tests to testkit and what makes documents to scripts",
      },
      {
        name: "exports that nobody takes",
        most: exportsMax,
        found: product
          .filter((path) => !isGenerated(path) && !programs.includes(path))
          .flatMap((path) => notTaken(path, sources.get(path) ?? "", names)),
        instead: "drop the word export, or what it exports",
      },
      {
        name: "sentences with broken grammar",
        most: 0,
        found: [...texts].flatMap(([path, text]) => brokenGrammar(path, text)),
        instead: "read the sentence aloud and write it anew",
      },
      {
        name: "routes with behaviour of their own",
        most: customRoutesMax,
        found: [...texts]
          .filter(([path]) => path.endsWith(".proto") && path.startsWith("contracts/"))
          .flatMap(([path, text]) => [...text.matchAll(/custom: true/g)].map(() => path)),
        instead: "declare what the generated route lacks",
      },
      {
        name: `files of at most ${smallLines} lines that one file imports, outside lists`,
        most: smallFilesMax,
        found: smallFiles(product, sources, names),
        instead: "let it stand where it is used",
      },
    ],
  };
}

function roomsOf(product: readonly string[], sources: ReadonlyMap<string, string>): House["rooms"] {
  const rooms = new Map<string, { files: number; lines: number }>();
  for (const path of product) {
    const room = rooms.get(roomOf(path)) ?? { files: 0, lines: 0 };
    room.files += 1;
    room.lines += linesOf(sources.get(path) ?? "");
    rooms.set(roomOf(path), room);
  }
  return [...rooms].map(([room, counts]) => ({ room, ...counts })).sort((a, b) => b.lines - a.lines);
}

const linesOf = (text: string): number => text.split("\n").length - 1;

function corePairs(product: readonly string[], { imports }: ImportedNames): readonly string[] {
  const roomInside = (path: string): string => path.split("/")[1] ?? "";
  const arrows = new Set<string>();
  for (const path of product.filter((one) => one.startsWith("core/"))) {
    for (const other of imports.get(path) ?? []) {
      if (!other.startsWith("core/") || roomInside(other) === roomInside(path)) continue;
      arrows.add(`${roomInside(path)} ${roomInside(other)}`);
    }
  }
  return [...arrows].flatMap((arrow) => {
    const [from = "", to = ""] = arrow.split(" ");
    return from < to && arrows.has(`${to} ${from}`) ? [`core/${from} and core/${to}`] : [];
  });
}

function loopsByHand(product: readonly string[], sources: ReadonlyMap<string, string>): readonly string[] {
  return product
    .filter((path) => path.startsWith("services/"))
    .flatMap((path) => [...handWrittenLoops(parseSource(path, sources.get(path) ?? ""))])
    .map(({ path, line }) => `${path}:${line}`);
}

function unreached(product: readonly string[], { imports }: ImportedNames): readonly string[] {
  const reached = new Set<string>();
  const waiting = [...programs, ...[...imports.keys()].filter((path) => startsProduct.test(path))];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...(imports.get(path) ?? []));
  }
  // What only declares types for the compiler is imported by nobody.
  return product.filter((path) => !reached.has(path) && !path.endsWith(".d.ts"));
}

function notTaken(path: string, text: string, { taken }: ImportedNames): readonly string[] {
  const names = taken.get(path) ?? new Set();
  if (names.has("*")) return [];
  return exportsOf(text)
    .filter((name) => !names.has(name))
    .map((name) => `${path} ${name}`);
}

function smallFiles(
  product: readonly string[],
  sources: ReadonlyMap<string, string>,
  { imports }: ImportedNames,
): readonly string[] {
  const importers = new Map<string, number>();
  for (const [path, others] of imports) {
    if (isTest(path)) continue;
    for (const other of others) importers.set(other, (importers.get(other) ?? 0) + 1);
  }
  return product.filter(
    (path) =>
      !isGenerated(path) &&
      !listFolders.test(`${posix.dirname(path)}/`) &&
      linesOf(sources.get(path) ?? "") <= smallLines &&
      importers.get(path) === 1,
  );
}
