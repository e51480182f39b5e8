// `npm run filings-check`: makes a day of every event that is reported, or takes a file, and holds it against the official schemas. They are others' property
// and not part of the project: their paths are given. The last line counts; what is wrong is named with its line and field, and ends it with 1.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { type CatSchema, catMistakes } from "./cat-schema.ts";
import { dayOf, fileOf } from "./day.ts";
import { xmlMistakes } from "./mifir-xsd.ts";

const usage =
  "npm run filings-check -- [--date YYYY-MM-DD] [--out FOLDER] [--file F] --cat-schema FILE --mifir-xsd FOLDER";
const standardDate = "2026-12-07";
const shownMax = 50;

const { values } = parseArgs({
  options: {
    date: { type: "string", default: standardDate },
    out: { type: "string" },
    file: { type: "string" },
    "cat-schema": { type: "string" },
    "mifir-xsd": { type: "string" },
  },
});
process.exitCode = await check();

async function check(): Promise<number> {
  const { date, out, file } = values;
  const schema = values["cat-schema"];
  const xsd = values["mifir-xsd"];
  const isXml = file?.endsWith(".xml") === true;
  const needsSchema = file === undefined || !isXml;
  const needsXsd = file === undefined || isXml;
  if ((needsSchema && schema === undefined) || (needsXsd && xsd === undefined) || !/^\d{4}-\d\d-\d\d$/.test(date)) {
    console.error(usage);
    return 2;
  }
  const files = file === undefined ? madeFiles(date) : [{ name: basename(file), text: readFileSync(file, "utf8") }];
  const mistakes: string[] = file === undefined ? asideOf(date) : [];
  for (const { name, text } of files) {
    if (out !== undefined) {
      mkdirSync(out, { recursive: true });
      writeFileSync(join(out, name), text);
    }
    const found = name.endsWith(".xml") ? await xmlMistakes(xsd ?? "", text) : catFileMistakes(schema ?? "", text);
    mistakes.push(...found.map((one) => `${name}: ${one}`));
    console.log(`${name}: ${found.length === 0 ? "as the schema wants it" : `${found.length} mistakes`}`);
  }
  for (const mistake of mistakes.slice(0, shownMax)) console.error(mistake);
  console.log(`${files.length} files, ${mistakes.length} mistakes`);
  return mistakes.length === 0 ? 0 : 1;
}

function madeFiles(date: string): { readonly name: string; readonly text: string }[] {
  return (["CAT", "MIFID-II"] as const).map((regime) => fileOf(regime, date, dayOf(regime, date).written));
}

/** A record of the day that is put aside is a mistake too: each has all that its regime wants. */
function asideOf(date: string): string[] {
  return (["CAT", "MIFID-II", "OATS"] as const).flatMap((regime) =>
    dayOf(regime, date).aside.map((one) => `${regime} puts aside ${one}`),
  );
}

function catFileMistakes(schemaFile: string, text: string): readonly string[] {
  const schema = JSON.parse(readFileSync(schemaFile, "utf8")) as CatSchema;
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.flatMap((line, index) => catMistakes(schema, line).map((one) => `line ${index + 1}: ${one}`));
}
