// The screen as lines: their order, what stands on every screen, and what a narrow, stale or hostile terminal makes of it.
import { describe, expect, it } from "vitest";
import { plusMilliseconds } from "../../../contracts/src/instant.ts";
import {
  calm,
  desk,
  haltOf,
  haltStatus,
  heard,
  key,
  laterBy,
  list,
  orderOf,
  plainLook,
  played,
  screen,
  someUse,
  start,
  threePositions,
  twoFunds,
  typed,
} from "../../../testkit/tui/desk-fixture.ts";
import { widthOf, wrapped } from "../../words/wrapped.ts";
import type { Event } from "../model/events.ts";
import { frame } from "./frame.ts";
import { painted, plainText } from "./text.ts";

const keysOfScreens = ["p", "o", "f", "r", "h"] as const;
const titles = { p: "POSITIONS", o: "ORDERS", f: "FUNDS", r: "RISK", h: "HALTS" } as const;

describe("the frame", () => {
  it("has header, halt line, name, table, message and keys, one row less than the terminal", () => {
    const lines = screen(calm());
    expect(lines).toHaveLength(23);
    expect(lines[0]).toBe("Portcullis  PAPER  operator:duty  READ-ONLY  polling 0 s");
    expect(lines[1]).toBe("Nothing is halted; nothing denies new risk.");
    expect(lines[2]).toBe("POSITIONS");
    expect(lines[3]).toMatch(/^ {2}FUND +SYMBOL +STRATEGY +QUANTITY +VALUE +PROFIT +LIMIT +AGE/);
    expect(lines[4]).toMatch(/^> alpha +AAPL +alpha-momentum +10 +1,010.00 +\+20.00 +45.0 % +2 s/);
    expect(lines[21]).toBe("");
    expect(lines[22]).toMatch(/^p o f r h {2}Enter detail .* q quit/);
  });

  it.each(keysOfScreens)("%s shows its screen, and a halt on it", (letter) => {
    const quiet = played(calm(), ...typed(letter));
    expect(screen(quiet)[2]).toBe(titles[letter]);
    const halted = played(quiet, list("halts", haltStatus([haltOf({ reason: "news" }), haltOf({ halt_id: "h-2" })])));
    expect(screen(halted)[1]).toBe("HALTED firm: news, operator:relief, since 3 min (+1 more)");
    expect(frame(halted.state, plainLook)[1]).toEqual([
      { text: "HALTED firm: news, operator:relief, since 3 min (+1 more)".padEnd(80), tone: "inverse" },
    ]);
  });

  it("says of a halt that it stands in the log alone where nobody was notified, and how many orders are gone", () => {
    const detail = "log only: no chat is set up.";
    const steps = [
      { step: "BLOCKED" as const, proven: true, detail: "" },
      { step: "CANCELLED" as const, proven: true, detail: "3 orders were cancelled." },
      { step: "NOTIFIED" as const, proven: true, detail },
    ];
    const halts = haltStatus([haltOf()], { progress: [{ halt_id: "h-1", steps }] });
    const lines = screen(played(calm(), list("halts", halts), ...typed("h")));
    expect(lines.join("\n")).toMatch(/firm +3 min +yes +yes \(3 orders\) +log only /);
  });

  it("shows a halt at its strictest, and keeps how many more when the reason is long", () => {
    const halts = [
      haltOf({ severity: "STRATEGY_HALT", strategy_id: "s", fund_id: "alpha", halt_id: "h-3" }),
      haltOf({ severity: "FUND_HALT", fund_id: "alpha", reason: "x".repeat(200) }),
    ];
    const [, line = ""] = screen(played(calm(), list("halts", haltStatus(halts))));
    expect(line).toMatch(/^HALTED fund alpha: x+\.\.\. \(\+1 more\)$/);
    expect(widthOf(line)).toBeLessThanOrEqual(80);
  });

  it("says what denies new risk when nothing is halted, and that the halts are not known when they are not", () => {
    const block = {
      code: "PRICE_STALE",
      scope: "symbol" as const,
      fund_id: "alpha",
      symbol: "AAPL",
      reason: "no price for 40 s",
      since: "2026-11-15T02:59:20Z",
      ends: "a fresh price",
    };
    expect(screen(played(calm(), list("blocks", [block])))[1]).toBe(
      "DENIED symbol alpha AAPL: PRICE_STALE, no price for 40 s, since 40 s",
    );
    expect(screen(desk())[1]).toBe("Halts are not known: not read yet");
    const unknown = list("halts", haltStatus([], { known: false }));
    expect(screen(played(calm(), unknown))[1]).toMatch(/^HALT STATE UNKNOWN/);
  });

  it("says of a list that it is of another time while the server is heard, and draws no fresh bar of it", () => {
    const risk = played(calm(), ...typed("r"));
    const failed = { kind: "list failed", name: "use", detail: "The risk engine does not answer." } as const;
    const later = played(risk, failed, laterBy(12_000), heard(plusMilliseconds(start, 12_000), "stream"));
    const lines = screen(later);
    expect(lines[0]).toContain("live 12 s");
    expect(lines[2]).toBe("RISK  NOT FRESH (use of 12 s ago: The risk engine does not answer.)");
    expect(lines.join("\n")).not.toContain("█");
    expect(lines.join("\n")).toContain("????");
    const current = ["use", "losses", "stops", "differences", "watchdogs", "alarms"] as const;
    const still = played(risk, laterBy(12_000), {
      ...heard(plusMilliseconds(start, 12_000), "stream"),
      current,
    } as Event);
    expect(screen(still)[2]).toBe("RISK");
    expect(screen(still).join("\n")).toContain("█");
  });

  it("cuts no symbol of an option at 80 columns: the fund goes, which the strategy tells, and an empty code", () => {
    const [held] = threePositions;
    const option = {
      symbol: "SPY 281215C00650000",
      quantity: "213.03744",
      market_value: "-120622.00",
      unrealised_pnl: "-1055.00",
    };
    const sold = played(calm(), list("positions", held === undefined ? [] : [{ ...held, ...option }]));
    expect(screen(sold)[4]).toMatch(/^> SPY 281215C00650000 +alpha-momentum +213.03744 +-120,622.00 +-1,055.00/);
    expect(screen(sold)[3]).not.toContain("FUND");
    const { order } = orderOf("gamma-income-300-3", "WORKING");
    const covered = { ...order, ...option, side: "BUY_TO_COVER" as const };
    const bought = played(
      calm(),
      ...typed("o"),
      list("orders", [orderOf("gamma-income-300-3", "WORKING", { order: covered })]),
    );
    expect(screen(bought)[4]).toContain("SPY 281215C00650000");
    expect(screen(bought)[3]).not.toContain("CODE");
    const refused = played(bought, list("orders", [orderOf("o-9", "REJECTED", { code: "NO_PRICE" })]));
    expect(screen(refused)[3]).toContain("CODE");
    expect(screen(refused)[4]).toContain("NO_PRICE");
  });

  it("breaks long lines between words and keeps how far in they stand", () => {
    expect(wrapped("    one two three", 12)).toEqual(["    one two", "      three"]);
    expect(wrapped("  key  new", 40)).toEqual(["  key  new"]);
    expect(wrapped("abcdefgh", 3)).toEqual(["abc", "def", "gh"]);
  });

  it("goes stale after 5 s of silence: the word stands, figures are dim, and no bar looks fresh", () => {
    const risk = played(calm(), ...typed("r"));
    expect(screen(risk).join("\n")).toMatch(/█████████░+/);
    const stale = played(risk, laterBy(5_000));
    expect(screen(stale)[0]).toContain("stale 5 s");
    expect(screen(stale)[2]).toContain("NOT FRESH (stale)");
    expect(screen(stale).join("\n")).not.toContain("█");
    const rows = frame(stale.state, plainLook).slice(4, 8).flat();
    expect(rows.filter(({ text, tone }) => /alpha|limits/.test(text) && tone !== "dim")).toEqual([]);
    expect(screen(played(stale, heard()))[0]).toContain("stale");
  });

  it("says live, reconnecting and offline", () => {
    const live = played(calm(), heard(start, "stream"));
    expect(screen(live)[0]).toContain("live 0 s");
    const lost = played(live, { kind: "unreachable", at: start, detail: "nobody answers" }, laterBy(3_000));
    expect(screen(lost)[0]).toContain("reconnecting 3 s");
    expect(screen(lost)[21]).toBe("nobody answers");
    expect(screen(played(lost, laterBy(60_000)))[0]).toContain("offline 1 min");
  });

  it("says that the login is over and keeps what it showed", () => {
    const over = played(calm(), { kind: "login over", detail: "The token was revoked." });
    expect(screen(over)[0]).toContain("offline");
    expect(screen(over)[1]).toMatch(/^LOGIN OVER: The token was revoked\. What is shown is of then\.$/);
    expect(screen(over)[4]).toContain("AAPL");
  });

  it("gives a wider terminal more columns and the same words", () => {
    const [narrow, wide] = [screen(calm())[3] ?? "", screen(calm(200, 60))[3] ?? ""];
    for (const head of narrow.trim().split(/ {2,}/)) expect(wide).toContain(head);
    expect(wide).toContain("AVERAGE");
    expect(narrow).not.toContain("AVERAGE");
  });

  it("says so when the terminal is too small, and what is halted all the same", () => {
    const small = played(calm(50, 10), list("halts", haltStatus([haltOf()])));
    expect(screen(small).join(" ")).toMatch(/This terminal is 50x10\. ctl tui needs 60x15.*HALTED firm/);
    expect(screen(calm(60, 15))[0]).toContain("Portcullis");
  });

  it("shows remote text without what a terminal would obey", () => {
    const evil = orderOf("o-\u001b[2J\u001b]0;x\u0007evil\u202e", "WORKING");
    const lines = frame(played(calm(), list("orders", [evil]), ...typed("o")).state, plainLook);
    const text = lines.map((line) => painted(line, { colour: true })).join("\n");
    for (const obeyed of ["\u001b[2J", "\u001b]", "\u0007", "\u202e"]) expect(text).not.toContain(obeyed);
    expect(text).toContain("o-⟨U+001B⟩[2J");
  });

  it("counts wide characters as the terminal does, and writes ASCII where nothing else can be shown", () => {
    const wide = threePositions.map((one) => ({ ...one, symbol: "東京".repeat(12) }));
    const shown = played(calm(), list("positions", wide));
    for (const line of frame(shown.state, plainLook)) expect(widthOf(plainText(line))).toBeLessThanOrEqual(80);
    const ascii = screen(played(shown, ...typed("r")), { ascii: true, colour: false }).join("\n");
    expect(ascii).toMatch(/^[ -~\n]*$/);
    expect(ascii).toContain("#########...");
  });

  it("shows paused and STALE watchdogs as neither OK nor fine", () => {
    const dog = (more: object) => ({
      watchdog: "vpin",
      fund_id: "alpha",
      strategy_id: null,
      symbol: null,
      state: "OK" as const,
      value: 0.1,
      threshold: 0.4,
      unit: "probability",
      sample_count: 1,
      reason: null,
      as_of: null,
      judged_at: null,
      since: "2026-11-15T02:00:00Z",
      episode_id: null,
      last_action: "",
      restriction_ids: [],
      mode: "act" as const,
      paused: null,
      alerts_30d: 0,
      expected_alerts_30d: null,
      injected: false,
      ...more,
    });
    const paused = dog({ paused: { by: "operator:duty", reason: "noise", until: "2026-11-15T04:00:00Z" } });
    const stale = dog({ watchdog: "db_watchdog", state: "STALE" });
    const shown = played(calm(80, 40), list("watchdogs", [paused, stale, dog({ watchdog: "news_spike" })]));
    const lines = screen(played(shown, ...typed("r"), key("end")));
    expect(lines.join("\n")).toMatch(/vpin +alpha +PAUSED \(OK\)/);
    expect(lines.join("\n")).toMatch(/db_watchdog +alpha +STALE/);
    expect(screen(played(shown, ...typed("r"))).join("\n")).toContain("1 STALE, 1 PAUSED, 1 OK");
  });

  it("is LIVE in inverse video where a fund is live, and both where both are", () => {
    const [alpha, beta] = twoFunds;
    if (alpha === undefined || beta === undefined) throw new Error("two funds");
    const both = played(calm(), list("funds", [alpha, { ...beta, mode: "LIVE" }]));
    expect(screen(both)[0]).toContain("PAPER AND LIVE");
    expect(frame(both.state, plainLook)[0]).toContainEqual({ text: "PAPER AND LIVE", tone: "inverse" });
    expect(screen(both)[3]).toContain("MODE");
  });

  it("never says none of what was not read", () => {
    const lines = screen(
      played(desk(), list("use", someUse), { kind: "list failed", name: "watchdogs", detail: "no" }, ...typed("r")),
    );
    expect(lines.join("\n")).toMatch(/watchdogs +not known: no/);
    expect(lines.join("\n")).toMatch(/losses +loading/);
  });
});
