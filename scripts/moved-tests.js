// What stands on the second floor and which test of `npm test` represents it: testkit/moved-tests.json, shown in docs/testing.md. Run as a program it
// writes that list into the page. Names are looked for in the text of their files and of the testkit's files that these import, which takes a second where
// `vitest list` takes minutes; it cannot see whether a row of a table is really used.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const home = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const page = join(home, "docs", "testing.md");
const begin = "<!-- moved tests: written by `node scripts/moved-tests.js` -->";
const end = "<!-- end of moved tests -->";

/**
 * @typedef {{ file: string, name: string }} Named A name as `vitest list` prints it: the titles around a test and its own, with " > " between them.
 * @typedef {Named & { representative: Named }} Moved
 */

/** @returns {Moved[]} */
export function readMoved() {
  return JSON.parse(readFileSync(join(home, "testkit", "moved-tests.json"), "utf8"));
}

const servesTests = /^(testkit|acceptance|sim|bench)\/|\/harness\/|\.test\.tsx?$/;
const importLine = /(?:^|\n)\s*(?:import|export)\s(?!type\s)(?:[^"';]*?\sfrom\s)?["'](\.[^"']+)["']/g;
const lineComment = /(^|\s)\/\/.*$/gm;
const literal = /"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;
const blank = /%[sdifjo%]|\$\{[^}]*(?:\{[^}]*\}[^}]*)*\}|\$[\w.]+/g;

/** What a title may be made of: patterns of the literals of a file and of what it imports, and all their text. @typedef {{ titles: RegExp[], text: string }} Source */

/** @param {string} root @returns {(file: string) => Source} */
function sourcesOf(root) {
  /** @type {Map<string, Source>} */
  const known = new Map();
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const texts = reachable(root, file).map((path) =>
      readFileSync(join(root, path), "utf8").replace(lineComment, "$1"),
    );
    const found = new Set(
      texts.flatMap((text) => [...text.matchAll(literal)].map(([, one, other]) => one ?? other ?? "")),
    );
    const source = { titles: [...found].filter((one) => one !== "").map(patternOf), text: plain(texts.join("\n")) };
    known.set(file, source);
    return source;
  };
}

/** @param {string} root @param {string} file @param {Set<string>} [seen] */
function reachable(root, file, seen = new Set()) {
  if (seen.has(file) || !existsSync(join(root, file))) return [...seen];
  seen.add(file);
  for (const [, target = ""] of readFileSync(join(root, file), "utf8").matchAll(importLine)) {
    const other = posix.normalize(posix.join(posix.dirname(file), target));
    if (servesTests.test(other)) reachable(root, other, seen);
  }
  return [...seen];
}

/** Numbers are written with underscores, or shown with commas. @param {string} text */
function plain(text) {
  return text.replace(/(?<=\d)[_,](?=\d)/g, "").replace(/\\(.)/g, "$1");
}

/** @param {string} title */
function patternOf(title) {
  const parts = plain(title)
    .split(blank)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("(.*?)")}$`, "s");
}

/** Numbers are computed, and files are listed; whatever else fills a blank of a title stands in the test's files. @param {string} filled @param {string} text @param {string} root */
function isKnown(filled, text, root) {
  // As `$name` shows a text.
  const bare = filled.replace(/^'(.*)'$/s, "$1");
  return /^\d*$/.test(bare) || text.includes(bare) || (/\.\w+$/.test(bare) && existsSync(join(root, bare)));
}

/** @param {Source} source @param {string} part @param {string} root */
function hasTitle({ titles, text }, part, root) {
  const wanted = plain(part);
  return titles.some(
    (title) =>
      title
        .exec(wanted)
        ?.slice(1)
        .every((filled) => isKnown(filled, text, root)) ?? false,
  );
}

/** @param {readonly Moved[]} moved @param {string} [root] @returns {string[]} Complaints. */
export function missingNames(moved, root = home) {
  const sourceOf = sourcesOf(root);
  /** @param {Named} named */
  const missing = ({ file, name }) => {
    if (!existsSync(join(root, file))) return [`${file} is not there any more`];
    const lost = name.split(" > ").find((part) => !hasTitle(sourceOf(file), part, root));
    return lost === undefined ? [] : [`${file} has no test that is called "${lost}"`];
  };
  return moved.flatMap(({ representative, ...one }) => [
    ...missing(one),
    ...missing(representative).map((complaint) => `${complaint}, which represents "${one.name}"`),
    ...(/\.(ci|long)\.test\.tsx?$/.test(representative.file)
      ? [`${representative.file} is not run by npm test and represents "${one.name}"`]
      : []),
  ]);
}

/** The list as the page shows it, by file. @param {readonly Moved[]} moved */
export function movedList(moved) {
  const files = [...new Set(moved.map(({ file }) => file))].sort();
  return files
    .map((file) => {
      const inFile = moved.filter((one) => one.file === file);
      const alike = inFile.filter(isOfSameName);
      const others = inFile.filter((one) => !isOfSameName(one));
      return [`### \`${file}\``, ...groupsOf(alike), ...tableOf(others)].join("\n\n");
    })
    .join("\n\n");
}

/** @param {string} name @returns {readonly [group: string, test: string]} */
function inParts(name) {
  const parts = name.split(" > ");
  return [parts.slice(0, -1).join(" > "), parts.at(-1) ?? ""];
}

/** As the tests of one conformance suite are, under two adapters. @param {Moved} moved */
function isOfSameName({ name, representative }) {
  return inParts(name)[1] === inParts(representative.name)[1];
}

/** @param {readonly Moved[]} moved */
function groupsOf(moved) {
  /** @param {Moved} one */
  const keyOf = ({ name, representative }) =>
    [inParts(name)[0], inParts(representative.name)[0], representative.file].join("\n");
  return [...new Set(moved.map(keyOf))].map((key) => {
    const inGroup = moved.filter((one) => keyOf(one) === key);
    const [group = "", other = "", file] = key.split("\n");
    const begins = `${shown(group)}: each of these is represented by the test of the same name under ${shown(other)} in \`${file}\`:`;
    return [begins, "", ...inGroup.map(({ name }) => `- ${shown(inParts(name)[1])}`)].join("\n");
  });
}

/** @param {readonly Moved[]} moved */
function tableOf(moved) {
  if (moved.length === 0) return [];
  const rows = moved.map(
    ({ name, representative }) => `| ${shown(name)} | ${shown(representative.name)} (\`${representative.file}\`) |`,
  );
  return [["| on the second floor | in `npm test` |", "|---|---|", ...rows].join("\n")];
}

/** @param {string} text */
function shown(text) {
  return text.replaceAll(" > ", " › ").replace(/[|<>*_]/g, "\\$&");
}

/** @param {string} text @param {readonly Moved[]} moved */
export function withMovedList(text, moved) {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to === -1) throw new Error("docs/testing.md has no place for the list of moved tests");
  return `${text.slice(0, from)}${begin}\n\n${movedList(moved)}\n\n${text.slice(to)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(page, withMovedList(readFileSync(page, "utf8"), readMoved()));
}
