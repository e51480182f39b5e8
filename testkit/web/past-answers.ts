// What a page asked of the past and what it was answered, so that a test can see whether anything was of a later moment than the question's.
import type { Page } from "playwright-core";

export interface PastAnswer {
  readonly url: string;
  /** The moment of the question; empty where it had none. */
  readonly asked: string;
  /** When what is in the answer was recorded, priced, valued or began. */
  readonly times: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;

/** From now on. Bodies that the browser let go of, because the page was left, are not among them. */
export function watchPast(page: Page): readonly PastAnswer[] {
  const found: PastAnswer[] = [];
  page.on("response", async (response) => {
    const url = new URL(response.url());
    if (!url.pathname.startsWith("/v1/replay/") || !response.ok() || response.request().method() !== "GET") return;
    const body = (await response.json().catch(() => undefined)) as Row | readonly Row[] | undefined;
    if (body === undefined) return;
    const asked = canonical(url.searchParams.get("to") ?? url.searchParams.get("at") ?? "");
    found.push({ url: response.url(), asked, times: timesIn(body).map(canonical) });
  });
  return found;
}

/** With six decimals, so that texts sort as moments do. */
function canonical(text: string): string {
  const [, whole = "", fraction = ""] = /^([\dT:-]+)(?:\.(\d+))?Z$/.exec(text) ?? [];
  return whole === "" ? "" : `${whole}.${fraction.padEnd(6, "0").slice(0, 6)}Z`;
}

const timed = ["at", "happened_at", "start", "as_of", "priced_at", "since"];

function timesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(timesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (typeof inner === "string") return timed.includes(name) ? [inner] : [];
    // What an entry says of itself is as it was written; until when an approval holds lies ahead.
    return name === "data" ? [] : timesIn(inner);
  });
}
