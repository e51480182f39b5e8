// A real Chromium for tests. It has no window and ends with the process that started it.
import { type Browser, chromium } from "playwright-core";
import { type DebianProgram, environmentOf, findProgram } from "./debian-package.ts";

const shell = "chromium-headless-shell";
export const chromiumProgram: DebianProgram = {
  packageName: shell,
  names: [shell, "chromium", "chromium-browser"],
  binaryPath: `usr/lib/chromium/${shell}`,
  cacheName: "chromium",
};

/** Starts it. Contexts should name a locale: without one, pages see a language tag that JavaScript refuses. */
export async function launchChromium(): Promise<Browser> {
  const found = await findProgram(chromiumProgram);
  return chromium.launch({ executablePath: found.binary, env: environmentOf(found) });
}
