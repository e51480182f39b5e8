// What thirty hostile reasons do to the dialog that a second person signs, in its three faces: the web in a real browser at 390 and 1280 px, the terminal desk at 80 x 24, and
// ctl. A reason stays in its field: labels stand where they stand for a plain reason, everything around it says what it says for a plain reason, and nothing sticks out.
// PORTCULLIS_PICTURES=<a folder> keeps a picture of each.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clean } from "../contracts/src/text/clean.ts";
import { pendingText } from "../edges/ctl/text/halt-text.ts";
import type { Lists } from "../edges/tui/lists.ts";
import { fieldLines } from "../edges/words/field-lines.ts";
import { haltGroups } from "../edges/words/fields.ts";
import { haltLine } from "../edges/words/halt-words.ts";
import { widthOf } from "../edges/words/wrapped.ts";
import { launchChromium } from "../testkit/chromium.ts";
import { hostileReasons } from "../testkit/hostile-reasons.ts";
import { calm, haltOf, haltStatus, key, list, played, screen, start, typed } from "../testkit/tui/desk-fixture.ts";
import { startWebDeskServer, type WebDeskServer } from "../testkit/web/desk-server.ts";

const plain = "the feed stopped";
const cases = Object.entries(hostileReasons);
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** A firm halt and the request to lift it, both with that reason. */
function waiting(reason: string): Lists["halts"] {
  const request = { request_id: "r-1", requested_by: "operator:relief", expires_at: "2026-11-15T04:00:00Z" };
  return haltStatus([haltOf({ reason })], { ...request, reason, baseline: "kept", restarts: ["alpha-momentum"] });
}

test("are thirty, each another", () => {
  expect([cases.length, new Set(cases.map(([, reason]) => reason)).size]).toEqual([30, 30]);
});

describe("in lines of 80 characters", () => {
  const bar = /^([A-Za-z]*) +│ /;
  /** Labels in order, and every line that is not of a field. */
  const structureOf = (lines: readonly string[]) => ({
    labels: lines.flatMap((line) => bar.exec(line)?.[1] || []),
    ours: lines.filter((line) => !bar.test(line)),
  });
  const isContained = (lines: readonly string[], plainLines: readonly string[]): void => {
    expect(structureOf(lines)).toEqual(structureOf(plainLines));
    expect(lines.filter((line) => widthOf(line) > 80 || unseen.test(line))).toEqual([]);
  };
  const ctl = (reason: string): readonly string[] => {
    const status = waiting(reason);
    return [...fieldLines(haltGroups(status.halts, start), 80), ...pendingText(status, start, 80)];
  };

  test.each(cases)("ctl keeps %s in its field", (_name, reason) => {
    isContained(ctl(reason), ctl(plain));
    const [before = "", after = ""] = haltLine(haltOf({ reason: plain }), start).split(plain);
    const line = haltLine(haltOf({ reason }), start);
    expect([line.startsWith(before), line.endsWith(after), /[“”]/.test(line.slice(before.length, -1))]).toEqual([
      true,
      true,
      false,
    ]);
    expect(line).not.toMatch(unseen);
  });

  /** Every part of the dialog, from its top to its end. */
  const screens = (reason: string): readonly (readonly string[])[] => {
    const enter = key("enter");
    let desk = played(calm(), list("halts", waiting(reason)), ...typed("u"), ...typed("look"), enter, ...typed("hc"));
    expect(desk.state.dialog?.act).toBe("cosign");
    const seen = [screen(desk)];
    for (let pages = 0; pages < 120; pages += 1) {
      desk = played(desk, key("down"));
      const next = screen(desk);
      if (next.join("\n") === seen.at(-1)?.join("\n")) break;
      seen.push(next);
    }
    return seen;
  };
  const scrolled = /^Lines \d+ to \d+ of \d+; /;
  const oursOf = (all: readonly (readonly string[])[]): ReadonlySet<string> =>
    // The line of the halt above every screen is cut to its width; it is judged below.
    new Set(all.flatMap((lines) => lines.filter((line, at) => at !== 1 && !bar.test(line) && !scrolled.test(line))));

  test.each(cases)("the terminal desk keeps %s in its field", (_name, reason) => {
    const [all, plainOnes] = [screens(reason), screens(plain)];
    const lines = all.flat();
    expect(lines.filter((line) => widthOf(line) > 80 || unseen.test(line))).toEqual([]);
    expect(all.filter((one) => one.length > 24)).toEqual([]);
    const known = oursOf(plainOnes);
    expect([...oursOf(all)].filter((line) => !known.has(line))).toEqual([]);
    const labels = new Set(lines.flatMap((line) => bar.exec(line)?.[1] || []));
    expect(labels).toEqual(new Set(plainOnes.flat().flatMap((line) => bar.exec(line)?.[1] || [])));
    // The halt above it begins as for a plain reason, on one line.
    expect(all.map(([, halt = ""]) => halt.startsWith("HALTED firm: "))).not.toContain(false);
  });
});

describe("in a browser", () => {
  let server: WebDeskServer;
  let browser: Browser;
  const pictures = process.env["PORTCULLIS_PICTURES"];

  beforeAll(async () => {
    const root = join(import.meta.dirname, "..");
    const bundle = (await import(pathToFileURL(join(root, "scripts", "bundle.js")).href)) as {
      ensureBundle(name: string): Promise<string>;
    };
    await bundle.ensureBundle("web");
    server = await startWebDeskServer({ folder: join(root, "dist", "web"), positions: 2 });
    browser = await launchChromium();
  }, 240_000);

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  }, 60_000);

  /** The dialog as the page has it: labels, fields, all else it says, and what sticks out of where. */
  const readDialog = `(() => {
    const dialog = document.querySelector("[data-testid=danger-dialog]");
    const fields = [...dialog.querySelectorAll(".fields dd")];
    const box = dialog.getBoundingClientRect();
    const rest = dialog.cloneNode(true);
    for (const field of rest.querySelectorAll(".fields dd")) field.remove();
    const isSeen = ({ top, bottom }, least) => Math.min(bottom, box.bottom) - Math.max(top, box.top) >= least;
    const isUnlabelled = (field) => {
      // Its words and not its box, which is as high as the field.
      const words = document.createRange();
      words.selectNodeContents(field.previousElementSibling);
      return isSeen(field.getBoundingClientRect(), 24) && !isSeen(words.getBoundingClientRect(), 10);
    };
    const isOut = (field) => {
      const own = field.getBoundingClientRect();
      return own.left < box.left || own.right > box.right || field.scrollWidth > field.clientWidth;
    };
    const unlabelledAt = (part) => {
      dialog.scrollTop = part * (dialog.scrollHeight - dialog.clientHeight);
      return fields.filter(isUnlabelled).length;
    };
    return {
      labels: [...dialog.querySelectorAll(".fields dt")].map((label) => label.textContent),
      values: fields.map((field) => field.textContent),
      rest: rest.textContent,
      elements: [...new Set(fields.flatMap((field) => [...field.querySelectorAll("*")].map((one) => one.tagName)))],
      out: fields.filter(isOut).length,
      unlabelled: Math.max(...[0, 0.2, 0.4, 0.6, 0.8, 1].map(unlabelledAt)),
      unclipped: fields.filter((field) => getComputedStyle(field).overflowY === "visible").length,
      aside: dialog.scrollWidth - dialog.clientWidth,
      page: document.documentElement.scrollWidth - window.innerWidth,
    };
  })()`;

  interface Read {
    readonly labels: readonly string[];
    readonly values: readonly string[];
    readonly rest: string;
    readonly elements: readonly string[];
    readonly out: number;
    readonly unlabelled: number;
    readonly unclipped: number;
    readonly aside: number;
    readonly page: number;
  }

  async function signing(page: Page, reason: string): Promise<Read> {
    server.setHalts(waiting(reason));
    await page.goto(`${server.url}/risk?fund=alpha`);
    const sign = page.getByTestId("cosign-sign");
    await sign.waitFor({ timeout: 60_000 });
    expect(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")).toBeLessThanOrEqual(0);
    const banner = await page.getByTestId("halt-banner").boundingBox();
    expect(banner?.height).toBeLessThan((page.viewportSize()?.height ?? 0) / 2);
    await sign.click();
    await page.getByTestId("danger-dialog").locator(".fields dd").first().waitFor();
    // What it hits is asked for meanwhile, and stands in the dialog when it is known or cannot be.
    await page.getByTestId("danger-dialog").getByText("reading…").first().waitFor({ state: "detached" });
    return (await page.evaluate(readDialog)) as Read;
  }

  test.each([390, 1_280])("at %i px every one stays in its field", { timeout: 540_000 }, async (width) => {
    const context = await browser.newContext({
      locale: "en-US",
      viewport: { width, height: width === 390 ? 844 : 900 },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => void dialogs.push(dialog.message()));
    const expected = await signing(page, plain);
    const reasonAt = expected.labels.indexOf("Reason");
    for (const [name, reason] of cases) {
      const read = await signing(page, reason);
      const { labels, elements, out, unclipped, unlabelled, aside, page: beside } = read;
      expect({ name, labels, elements, out, unclipped, unlabelled }).toEqual({
        name,
        labels: expected.labels,
        elements: ["BDI"],
        out: 0,
        unclipped: 0,
        unlabelled: 0,
      });
      expect([name, Math.max(0, aside), Math.max(0, beside)]).toEqual([name, 0, 0]);
      expect(timeless(read.rest), name).toBe(timeless(expected.rest));
      expect(read.values[reasonAt], name).toBe(clean(reason));
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${width}-${name}.png`) });
    }
    expect(dialogs).toEqual([]);
    await context.close();
  });
});

/** How long ago something was goes on while pictures are taken, and a server that has no answer is late with it or not. */
function timeless(text: string): string {
  return text
    .replaceAll(/\d+ (s|min|h|d)\b/g, "a while")
    .replace(/(cannot be reported, PAPER or LIVE neither: ).*?(?=Type )/, "$1");
}
