// The pure parts of the desks: addresses, rows, keys, halts, links and effects, without a browser.
import { describe, expect, test } from "vitest";
import { auditActions } from "../../../contracts/src/audit-actions.ts";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import { foundIn } from "../danger/audited.ts";
import { effectsOf } from "../danger/effects.ts";
import { isTouchedBy, lists } from "../data/lists.ts";
import { desks } from "../desk-list.ts";
import { meaningOf } from "../frame/keys.ts";
import { linkWord, noLink, withNews } from "../live/link.ts";
import { chosen, ownPath } from "../login/oidc.ts";
import { grouped, signed } from "../panels/figures.tsx";
import { isHalted, modeOf } from "./halted.ts";
import { filteredRows, sortedRows } from "./rows.ts";
import { nextSort, readSearch, refusedIn, sortingOf } from "./search.ts";

describe("the address", () => {
  test("holds what a desk knows, and nothing else", () => {
    expect(readSearch({ fund: "alpha", q: "", other: "x", sort: ["a"], show: "y".repeat(300), from: 7 })).toEqual({
      fund: "alpha",
      from: "7",
    });
  });

  test.each([
    ["fund", "alpha; touch /tmp/owned #"],
    ["fund", "alpha\nhalt"],
    ["show", "$(id)"],
    ["symbol", "AAPL'"],
    ["symbol", "\u202eLPAA"],
  ])("leaves out a %s that cannot be one, and names it", (key, value) => {
    expect(readSearch({ [key]: value, q: "x" })).toEqual({ q: "x" });
    expect(refusedIn({ [key]: value, q: "x" })).toEqual([key]);
    expect(refusedIn({ fund: "alpha", show: "tv-1:a/b@c", symbol: "BRK B" })).toEqual([]);
  });

  test("sorts one column of one panel, downwards first, then upwards, then not", () => {
    const first = nextSort(undefined, "stops", "price");
    expect(first).toBe("stops.price.desc");
    const second = nextSort(first, "stops", "price");
    expect(second).toBe("stops.price.asc");
    expect(nextSort(second, "stops", "price")).toBeUndefined();
    expect(sortingOf(first, "losses")).toBeUndefined();
    expect(sortingOf(second, "stops")).toEqual({ column: "price", down: false });
  });

  test("returns to a path of ours only", () => {
    expect(ownPath("/risk?fund=alpha")).toBe("/risk?fund=alpha");
    for (const foreign of ["//evil.example", "/\\evil.example", "https://evil.example", ""])
      expect(ownPath(foreign)).toBe("/");
  });
});

describe("rows", () => {
  const columns = [
    { id: "name", by: (row: { name: string; of?: string }) => row.name },
    { id: "of", by: (row: { name: string; of?: string }) => row.of },
  ];
  const rows = [
    { name: "b", of: "10.5" },
    { name: "a" },
    { name: "c", of: "9.25" },
    { name: "d", of: "900719925474.01" },
  ];

  test("are sorted as exact decimals, with what is not known last both ways", () => {
    const names = (down: boolean): string =>
      sortedRows(rows, columns, { column: "of", down })
        .map(({ name }) => name)
        .join("");
    expect(names(false)).toBe("cbda");
    expect(names(true)).toBe("dbca");
  });

  test("are filtered by every word", () => {
    expect(filteredRows(rows, columns, " C 9.2 ").map(({ name }) => name)).toEqual(["c"]);
    expect(filteredRows(rows, columns, undefined)).toHaveLength(4);
  });
});

describe("keys", () => {
  const press = (key: string, more: object = {}) => ({
    key,
    ctrl: false,
    meta: false,
    alt: false,
    isTyping: false,
    ...more,
  });

  test("g and a letter open each desk", () => {
    expect(meaningOf(press("g"), false)).toEqual({ kind: "await" });
    for (const { key, path } of desks) expect(meaningOf(press(key), true)).toEqual({ kind: "desk", path });
    expect(new Set(desks.map(({ key }) => key)).size).toBe(desks.length);
    expect(meaningOf(press("f"), false)).toEqual({ kind: "nothing" });
  });

  test("nothing acts while somebody types, but the palette opens", () => {
    for (const key of ["g", "/", "?", "y", "t"])
      expect(meaningOf(press(key, { isTyping: true }), false).kind).toBe("nothing");
    expect(meaningOf(press("k", { ctrl: true, isTyping: true }), false).kind).toBe("palette");
  });
});

describe("the link", () => {
  const at = (seconds: number) => fromUnixMs(1_000_000 + seconds * 1_000);

  test("is live for less than 5 s after anything was heard", () => {
    const heard = withNews(noLink, { kind: "heard", at: at(0) });
    expect(linkWord(noLink, at(0))).toBe("reconnecting");
    expect(linkWord(heard, at(4.9))).toBe("live");
    expect(linkWord(heard, at(5))).toBe("stale");
  });

  test("counts a failure from its first moment on, until something is heard", () => {
    const failing = withNews(withNews(noLink, { kind: "failing", at: at(0) }), { kind: "failing", at: at(50) });
    expect(linkWord(failing, at(59))).toBe("reconnecting");
    expect(linkWord(failing, at(60))).toBe("offline");
    expect(linkWord(withNews(failing, { kind: "heard", at: at(61) }), at(62))).toBe("live");
    expect(linkWord(withNews(failing, { kind: "expired", expired: true }), at(1))).toBe("expired");
  });
});

describe("halts and modes", () => {
  const halt = { severity: "FUND_HALT", fund_id: "alpha", reason: "r", requested_by: "operator:duty" } as const;
  const paper = { fund_id: "alpha", name: "Alpha", mode: "PAPER", currency: "USD", halted: false } as const;
  const live = { ...paper, fund_id: "real", mode: "LIVE" } as const;

  test("a halt covers its scope, and a state that is not known covers everything", () => {
    const status = { halts: [halt], known: true };
    expect([isHalted(status, undefined), isHalted(status, "alpha"), isHalted(status, "beta")]).toEqual([
      true,
      true,
      false,
    ]);
    expect(isHalted({ halts: [{ ...halt, severity: "FIRM_HALT", fund_id: "" }], known: true }, "beta")).toBe(true);
    expect(isHalted({ halts: [], known: false }, "beta")).toBe(true);
  });

  test("paper and live are never one", () => {
    expect(modeOf([paper], undefined)).toBe("PAPER");
    expect(modeOf([paper, live], undefined)).toBe("PAPER and LIVE");
    expect(modeOf([paper, live], "real")).toBe("LIVE");
    expect(modeOf(undefined, undefined)).toBe("mode not known");
    expect(modeOf([paper], "another")).toBe("mode not known");
    expect(modeOf([], undefined)).toBe("no funds");
  });

  test("what an action hits names mode, strategies, orders and positions", () => {
    const strategy = { strategy_id: "alpha-one", fund_id: "alpha" };
    const order = { order: { fund_id: "alpha", strategy_id: "alpha-one" } };
    const position = { fund_id: "alpha", strategy_id: "other" };
    const known = { funds: [live, paper], strategies: [strategy], orders: [order], positions: [position] } as never;
    expect(effectsOf(known, { scopeId: "", paperOnly: false })).toEqual({
      mode: "PAPER and LIVE",
      lines: ["LIVE real: 0 open orders, 0 positions", "PAPER alpha (alpha-one): 1 open order, 1 position"],
    });
    expect(effectsOf(known, { scopeId: "", paperOnly: true }).mode).toBe("PAPER");
    expect(effectsOf(known, { scopeId: "alpha-one", paperOnly: false }).lines).toEqual([
      "PAPER alpha (alpha-one): 1 open order, 0 positions",
    ]);
  });
});

test("a list is read again for its own events only", () => {
  expect(isTouchedBy("halts", ["oms.fills.created"])).toBe(false);
  expect(isTouchedBy("halts", ["oms.fills.created", "operations.resume.requested"])).toBe(true);
});

test("the token that is for this server is taken, and none other", () => {
  const jwt = (aud: unknown): string => `h.${Buffer.from(JSON.stringify({ aud })).toString("base64url")}.s`;
  expect(chosen({ access_token: jwt("portcullis"), id_token: jwt("desk") }, "portcullis").token).toBe(
    jwt("portcullis"),
  );
  expect(chosen({ access_token: "opaque", id_token: jwt(["desk", "x"]) }, "desk").token).toBe(jwt(["desk", "x"]));
  expect(() => chosen({ access_token: "opaque" }, "desk")).toThrow(/audience desk/);
});

describe("what a list says of itself", () => {
  test("names events that the audit log has", () => {
    const known = Object.values(auditActions).flatMap((rule) => ("actions" in rule ? rule.actions : []));
    for (const [name, { actions }] of Object.entries(lists)) {
      for (const beginning of actions) {
        expect(
          known.some((action) => action.startsWith(beginning)),
          `${name}: ${beginning}`,
        ).toBe(true);
      }
    }
  });

  test("is shown with every digit, in groups and with its sign", () => {
    expect([grouped("1234567.8901"), grouped("-1234"), grouped("999"), grouped(undefined)]).toEqual([
      "1,234,567.8901",
      "-1,234",
      "999",
      "",
    ]);
    expect([signed("1234"), signed("-0.5"), signed("0"), signed("?")]).toEqual(["+1,234", "-0.5", "0", "?"]);
  });
});

describe("the audit entry of an act", () => {
  const text = (changes: object): string =>
    JSON.stringify({
      action: "envelope.updated",
      actor: "operator:duty",
      sequence: 7,
      data: { event_id: "e1" },
      ...changes,
    });

  test("is that person's, of that action", () => {
    const found = (one: string) => foundIn(one, "envelope.updated", "operator:duty");
    expect(found(text({}))).toEqual([{ auditId: "e1", sequence: 7 }]);
    for (const other of [{ actor: "operator:relief" }, { action: "order.decided" }, { data: null }])
      expect(found(text(other))).toEqual([]);
  });
});
