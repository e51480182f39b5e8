// The desk as a fold of its events: what keys do, what they never do, and that no sequence of them breaks it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plusMilliseconds } from "../../../contracts/src/instant.ts";
import {
  calm,
  haltOf,
  haltStatus,
  heard,
  key,
  laterBy,
  list,
  orderOf,
  type Played,
  pasted,
  plainLook,
  played,
  screen,
  start,
  threePositions,
  typed,
} from "../../../testkit/tui/desk-fixture.ts";
import { widthOf } from "../../words/wrapped.ts";
import { frame } from "../view/frame.ts";
import { plainText } from "../view/text.ts";
import type { Effect, Event } from "./events.ts";

const enter = key("enter");
const back = key("escape");
const acts = ({ effects }: Played): readonly Effect[] => effects.filter(({ kind }) => kind === "act");
const unlocked = (desk: Played): Played => played(desk, ...typed("u"), ...typed("drill"), enter);
const halted = (desk: Played): Played =>
  played(
    desk,
    list("halts", haltStatus([haltOf(), haltOf({ severity: "FUND_HALT", fund_id: "alpha", halt_id: "h-2" })])),
  );

describe("keys", () => {
  it("p o f r h show their screens, and q leaves", () => {
    for (const [letter, name] of Object.entries({ o: "orders", f: "funds", r: "risk", h: "halts", p: "positions" })) {
      expect(played(calm(), ...typed(letter)).state.screen).toBe(name);
    }
    expect(played(calm(), ...typed("q")).state.leaving).toBe(0);
    expect(played(calm(), key("interrupt")).state.leaving).toBe(130);
  });

  it("keeps the cursor on its row while rows move, and near it when it is gone", () => {
    const second = played(calm(), key("down"));
    expect(screen(second)[5]).toMatch(/^> alpha +MSFT/);
    const [one, two, three] = threePositions;
    if (one === undefined || two === undefined || three === undefined) throw new Error("three positions");
    const moved = played(second, list("positions", [three, one, two]));
    expect(screen(moved)[6]).toMatch(/^> alpha +MSFT/);
    expect(screen(played(moved, list("positions", [three, one])))[5]).toMatch(/^> alpha +AAPL/);
  });

  it("filters, sorts, freezes and takes each back with Esc", () => {
    const filtered = played(calm(), ...typed("/"), ...typed("nvd"), enter);
    expect(screen(filtered)[2]).toBe('POSITIONS  filter "nvd"');
    expect(screen(filtered)[4]).toContain("NVDA");
    expect(played(filtered, back).state.views.positions.filter).toBe("");
    const sorted = played(calm(), ...typed("ssss"));
    expect(screen(sorted)[2]).toBe("POSITIONS  sorted by QUANTITY");
    expect(screen(sorted)[4]).toContain("NVDA");
    const frozen = played(calm(), ...typed(" "), list("positions", []));
    expect(screen(frozen)[0]).toContain("FROZEN");
    expect(screen(frozen)[4]).toContain("AAPL");
    expect(screen(halted(frozen))[1]).toContain("HALTED firm");
    expect(screen(played(frozen, back))[3]).toContain("Nothing is held.");
  });

  it("opens what the row is about, shows only the answer to the last question, and goes back", () => {
    const opened = played(calm(), ...typed("o"), enter);
    expect(opened.effects).toEqual([{ kind: "load detail", asked: 1, target: { kind: "order", orderId: "o-2" } }]);
    expect(screen(opened)[2]).toBe("ORDERS > ORDER o-2");
    const late = played(opened, back, enter, { kind: "detail", asked: 1, lines: ["old"], at: start });
    expect(screen(late)[3]).toBe("Loading.");
    const shown = played(late, { kind: "detail", asked: 2, lines: ["APPROVED"], at: start });
    expect(screen(shown)[3]).toBe("APPROVED");
    const again = played(shown, laterBy(9_000), enter);
    expect(again.effects.at(-1)).toEqual({ kind: "load detail", asked: 3, target: { kind: "order", orderId: "o-2" } });
    expect(screen(again)[2]).toBe("ORDERS > ORDER o-2  read 9 s ago, NOT FRESH (stale)");
    expect(screen(again)[3]).toBe("APPROVED");
    expect(played(shown, back).state.detail).toBeUndefined();
  });

  it("y shows the command and copies it, with the profile that this desk uses", () => {
    const copied = played(calm(), ...typed("oy"));
    expect(copied.effects).toEqual([{ kind: "copy", text: "ctl why o-2" }]);
    expect(screen(copied)[21]).toBe("ctl why o-2");
    const other = { ...calm(), state: { ...calm().state, profile: "relief" } };
    expect(played(other, ...typed("y")).effects).toEqual([
      { kind: "copy", text: "ctl --profile relief oms positions list --fund-id alpha" },
    ]);
  });

  it("a paste on a screen does nothing", () => {
    const { state } = played(calm(), pasted("q"));
    expect(state.leaving).toBeUndefined();
    expect(state.screen).toBe("positions");
  });
});

describe("acting", () => {
  it("h only shows; H halts without unlocking: scope, reason, word", () => {
    const menu = played(calm(), ...typed("h"));
    expect(menu.state.dialog).toBeUndefined();
    const asked = played(menu, ...typed("H"));
    expect(screen(asked).join("\n")).toMatch(/> EVERYTHING: the whole firm \(PAPER\)\n {2}fund alpha \(PAPER\)/);
    const sent = played(asked, key("down"), enter, ...typed("quick, q"), enter, ...typed("HALT"), enter);
    expect(acts(sent)).toEqual([
      {
        kind: "act",
        asked: 1,
        request: {
          act: "halt",
          target: { label: "fund alpha (PAPER)", id: "alpha" },
          reason: "quick, q",
          confirmation: "HALT",
          code: "",
        },
      },
    ]);
    expect(sent.state.leaving).toBeUndefined();
    const outcome: Event = {
      kind: "outcome",
      asked: 1,
      lines: ["HALTED alpha", "Audit a-1"],
      tone: "good",
      done: true,
    };
    expect(screen(played(sent, outcome)).join("\n")).toMatch(/HALTED alpha\n {2}Audit a-1/);
    expect(played(sent, outcome, enter).state.dialog).toBeUndefined();
  });

  it("H acts in the halt menu alone", () => {
    expect(played(calm(), ...typed("H")).state.dialog).toBeUndefined();
    expect(screen(played(calm(), ...typed("H")))[21]).toContain("press h first");
  });

  it("a paste is not taken for the word, and the word is not sent empty", () => {
    const word = played(calm(), ...typed("hH"), enter, enter);
    const refused = played(word, pasted("HALT"), enter);
    expect(acts(refused)).toEqual([]);
    expect(screen(played(word, pasted("HALT"))).join("\n")).toContain("a paste is not taken");
    expect(acts(played(refused, ...typed("HALT"), enter))).toHaveLength(1);
  });

  it("sends a wrong word, which the server refuses and records", () => {
    const wrong = played(calm(), ...typed("hH"), enter, enter, ...typed("halt"), enter);
    expect(acts(wrong)).toMatchObject([{ request: { confirmation: "halt" } }]);
  });

  it.each(["R", "c", "C", "F"])("%s needs u with a reason first", (letter) => {
    const waiting = list("halts", haltStatus([haltOf()], { request_id: "r-1", requested_by: "operator:relief" }));
    const locked = played(calm(), waiting, ...typed("h"), ...typed(letter));
    expect(locked.state.dialog).toBeUndefined();
    expect(screen(locked)[21]).toContain("press u");
    expect(played(calm(), waiting, ...typed("hu"), enter).state.unlocked).toBeUndefined();
    const open = played(unlocked(played(calm(), waiting, ...typed("h"))), ...typed(letter));
    expect(open.state.dialog).toBeDefined();
    expect(screen(open)[0]).toContain("UNLOCKED 5 min");
  });

  it("locks again after 5 minutes, also under a dialog that was open", () => {
    const open = played(halted(unlocked(calm())), ...typed("hR"), enter, enter, ...typed("RESUME"));
    const late = played(open, laterBy(5 * 60_000));
    expect(late.state.unlocked).toBeUndefined();
    const code = played(late, enter, ...typed("123456"), enter);
    expect(acts(code)).toEqual([]);
    expect(screen(code)[21]).toContain("Locked again meanwhile");
  });

  it("resumes what was shown when the dialog opened, whatever is raised meanwhile", () => {
    const open = played(halted(unlocked(calm())), ...typed("hR"), key("end"));
    const later = played(open, list("halts", haltStatus([haltOf({ halt_id: "h-9" })])));
    const sent = played(later, enter, enter, ...typed("RESUME"), enter);
    expect(acts(sent)).toMatchObject([
      { request: { act: "resume", target: { id: "alpha", haltIds: ["h-2"] }, reason: "drill", code: "" } },
    ]);
  });

  it("asks for a code to resume everything and to co-sign, takes six digits, and keeps none of them", () => {
    const all = played(halted(unlocked(calm())), ...typed("hR"), enter, enter, ...typed("RESUME"), enter);
    expect(acts(played(all, ...typed("12345"), enter))).toEqual([]);
    const sent = played(all, pasted("123 456"), enter);
    expect(acts(sent)).toMatchObject([
      { request: { act: "resume", code: "123456", target: { haltIds: ["h-1", "h-2"] } } },
    ]);
    expect(JSON.stringify(sent.state)).not.toContain("123456");
    const waiting = list("halts", haltStatus([haltOf()], { request_id: "r-1", requested_by: "operator:relief" }));
    const signed = played(unlocked(played(calm(), waiting)), ...typed("hcRESUME"), enter, ...typed("654321"), enter);
    expect(acts(signed)).toMatchObject([{ request: { act: "cosign", requestId: "r-1", code: "654321" } }]);
  });

  it("Esc sends nothing; nothing closes a dialog whose request is under way", () => {
    const word = played(calm(), ...typed("hH"), enter, enter, ...typed("HALT"));
    expect(acts(played(word, back, enter))).toEqual([]);
    const sending = played(word, enter, back, ...typed("q"), enter);
    expect(sending.state.dialog?.phase).toBe("sending");
    expect(sending.state.leaving).toBeUndefined();
    expect(acts(sending)).toHaveLength(1);
  });

  it("offers nothing once the login is over", () => {
    const over = played(unlocked(calm()), { kind: "login over", detail: "Revoked." });
    expect(screen(over)[0]).toContain("READ-ONLY");
    expect(played(over, ...typed("hH")).state.dialog).toBeUndefined();
  });
});

const anyKey = fc.oneof(
  fc.constantFrom(..."pofrh qHRcCFuys/? HALTRESUME123456"),
  fc.constantFrom("enter", "escape", "up", "down", "end", "pageDown", "backspace"),
);
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: anyKey.map((typedKey): Event => (typedKey.length === 1 ? letterOf(typedKey) : key(typedKey as "enter"))),
  },
  fc.string({ unit: "grapheme", maxLength: 20 }).map(pasted),
  fc.integer({ min: 0, max: 400_000 }).map(laterBy),
  fc
    .tuple(fc.integer({ min: 1, max: 220 }), fc.integer({ min: 1, max: 70 }))
    .map(([columns, rows]): Event => ({ kind: "resized", columns, rows })),
  fc
    .string({ unit: "grapheme", maxLength: 40 })
    .map((text): Event => list("orders", [orderOf(text, "WORKING", { reason: text })])),
  fc.boolean().map((isHalted) => list("halts", haltStatus(isHalted ? [haltOf()] : []))),
  fc.constant<Event>({ kind: "unreachable", at: start, detail: "nobody answers" }),
  fc.integer({ min: 0, max: 400_000 }).map((ms) => heard(plusMilliseconds(start, ms))),
);

function letterOf(letter: string): Event {
  return { kind: "input", input: { kind: "letter", letter } };
}

describe("any night", () => {
  it("never breaks the frame, and sends nothing but halts while it is locked", { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
        let desk = calm();
        for (const event of events) {
          const before = desk.state;
          desk = played({ ...desk, effects: [] }, event);
          const { columns, rows } = desk.state.size;
          const lines = frame(desk.state, plainLook);
          const isTooHigh = lines.length > Math.max(1, rows - 1);
          const isTooWide = lines.some((line) => widthOf(plainText(line)) > columns);
          const isForbidden = acts(desk).some(
            (effect) => effect.kind === "act" && effect.request.act !== "halt" && before.unlocked === undefined,
          );
          expect({ isTooHigh, isTooWide, isForbidden }).toEqual({
            isTooHigh: false,
            isTooWide: false,
            isForbidden: false,
          });
        }
      }),
      { numRuns: 25, seed: 27 },
    );
  });
});
