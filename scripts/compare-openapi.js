// Whether the HTTP surface is as it was: `node scripts/compare-openapi.js REF` compares the OpenAPI documents of that commit with those here. Words in
// descriptions and the order of lists do not count. What was added is counted; what is gone or changed is named, and fails.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const documents = ["edges/client/openapi.json", "edges/client/openapi.public.json"];
const [reference] = process.argv.slice(2);
if (reference === undefined) {
  console.error("usage: node scripts/compare-openapi.js REF");
  process.exit(2);
}

let added = 0;
const broken = [];
for (const path of documents) {
  const before = execFileSync("git", ["show", `${reference}:${path}`], { cwd: root, maxBuffer: 2 ** 27 });
  compare(plain(JSON.parse(before.toString())), plain(JSON.parse(readFileSync(join(root, path), "utf8"))), path);
}
for (const line of broken) console.error(line);
console.log(`${broken.length} gone or changed, ${added} added`);
if (broken.length > 0) process.exitCode = 1;

/** Without words, and with lists whose order means nothing as sets. */
function plain(value, name = "") {
  if (Array.isArray(value)) {
    if (name === "enum" || name === "required") return Object.fromEntries(value.map((one) => [String(one), true]));
    if (name === "parameters") return Object.fromEntries(value.map((one) => [`${one.in} ${one.name}`, plain(one)]));
    return value.map((one) => plain(one));
  }
  if (typeof value !== "object" || value === null) return value;
  const isWords = ([key, inner]) => (key === "description" || key === "summary") && typeof inner === "string";
  return Object.fromEntries(
    Object.entries(value)
      .filter((entry) => !isWords(entry))
      .map(([key, inner]) => [key, plain(inner, key)]),
  );
}

function compare(before, after, place) {
  if (typeof before !== "object" || before === null || typeof after !== "object" || after === null) {
    // A whole number is a number: what is said of it became more exact.
    if (before !== after && !(before === "number" && after === "integer")) {
      broken.push(`${place}: ${JSON.stringify(before)} is ${JSON.stringify(after)}`);
    }
    return;
  }
  for (const key of Object.keys(before)) {
    if (Object.hasOwn(after, key)) compare(before[key], after[key], `${place}/${key}`);
    else broken.push(`${place}/${key} is gone`);
  }
  added += Object.keys(after).filter((key) => !Object.hasOwn(before, key)).length;
}
