// `npm run oracle -- FILE... [--json]`: computes every case of the files from its inputs and compares with what they expect. A miss is exit 1, a file
// that cannot be read or is of no known kind exit 2.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../contracts/src/fault.ts";
import { type FileResult, oracleFile, oracleNames, runOracle } from "./run-oracle.ts";

const usage = `Usage: npm run oracle -- FILE... [--json]\n\nFiles as those in testkit/oracle/fixtures; their oracle is one of\n  ${oracleNames.join("\n  ")}\n`;

export async function main(argv: readonly string[]): Promise<number> {
  const asked = readArguments(argv);
  if (asked === undefined || asked.files.length === 0) {
    process.stderr.write(usage);
    return 2;
  }
  const files: FileResult[] = [];
  for (const path of asked.files) {
    try {
      files.push(runOracle(read(path)));
    } catch (error) {
      process.stderr.write(`${path}: ${messageOf(error)}\n`);
      return 2;
    }
  }
  process.stdout.write(asked.json ? `${JSON.stringify({ files })}\n` : table(files));
  return files.some(({ failed }) => failed > 0) ? 1 : 0;
}

/** Relative to where npm was called, which need not be where the project lies. */
function read(path: string) {
  const parsed = oracleFile.safeParse(
    JSON.parse(readFileSync(resolve(process.env["INIT_CWD"] ?? process.cwd(), path), "utf8")),
  );
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RangeError(`not a file of cases: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`);
}

function table(files: readonly FileResult[]): string {
  return files
    .map(({ oracle, passed, failed, cases }) => {
      const misses = cases.flatMap(({ name, mismatches = [] }) =>
        mismatches.map((each) => `  ${name} ${each.path}: expected ${each.expected}, got ${each.got}\n`),
      );
      return `${oracle.padEnd(22)}${passed} passed, ${failed} failed\n${misses.join("")}`;
    })
    .join("");
}

function readArguments(argv: readonly string[]): { files: readonly string[]; json: boolean } | undefined {
  try {
    const { positionals, values } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: { json: { type: "boolean", default: false } },
    });
    return { files: positionals, json: values.json };
  } catch {
    // A flag that does not exist: the usage says which do.
    return undefined;
  }
}
