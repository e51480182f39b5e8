// The fix that a page shows for a code is the one of docs/webhook.md.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { webhookFix } from "./webhook-fixes.ts";

it("are those of the page for people, code by code", () => {
  const page = readFileSync(new URL("../../docs/webhook.md", import.meta.url), "utf8");
  const rows = [...page.slice(page.indexOf("## Every code")).matchAll(/^\| [\d, ]+ \| (.+?) \| (.+) \|$/gm)];
  const told = rows.flatMap(([, codes = "", fix]) =>
    [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code = ""]) => [code, fix] as const),
  );
  expect(told.length).toBeGreaterThan(25);
  expect(told.map(([code]) => [code, webhookFix(code)])).toEqual(told);
  expect([webhookFix("constructor"), webhookFix(undefined), webhookFix("MAX_NOTIONAL")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
