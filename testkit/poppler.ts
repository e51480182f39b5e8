// Poppler's programs for tests: what a PDF says as text, and how its pages look.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type DebianProgram, environmentOf, findProgram } from "./debian-package.ts";

const run = promisify(execFile);
const poppler = (name: string): DebianProgram => ({
  packageName: "poppler-utils",
  names: [name],
  binaryPath: `usr/bin/${name}`,
  cacheName: "poppler",
  versionFlag: "-v",
});

/** The text of every page, laid out as on the page. */
export async function pdfPages(path: string): Promise<readonly string[]> {
  const found = await findProgram(poppler("pdftotext"));
  const { stdout } = await run(found.binary, ["-layout", path, "-"], {
    env: environmentOf(found),
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split("\f").slice(0, -1);
}

/** Writes one PNG for each page: PREFIX-1.png and so on. */
export async function pdfImages(path: string, prefix: string, dotsPerInch = 70): Promise<void> {
  const found = await findProgram(poppler("pdftoppm"));
  await run(found.binary, ["-png", "-r", String(dotsPerInch), path, prefix], { env: environmentOf(found) });
}
