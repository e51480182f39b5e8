// Gate 5: three levels and not knowing, for new risk, for a proven exit, and for one that only claims to be one.
import { describe, expect, test } from "vitest";
import type { DenialCode } from "../../contracts/src/codes.ts";
import { d, judge, type Spoil } from "../../testkit/passing-order.ts";

const stands = (code: DenialCode, reason: string) => [code, { conditions: [{ code, reason }] }] as const;
const situations = [
  ["FIRM_HALTED", { halt: "FIRM_HALT", haltId: "halt-9", haltReason: "fire drill" }],
  ["FUND_HALTED", { halt: "FUND_HALT", haltId: "halt-9", haltReason: "daily loss" }],
  ["STRATEGY_HALTED", { halt: "STRATEGY_HALT", haltId: "halt-9", haltReason: "drift" }],
  ["HALT_STATE_UNKNOWN", { haltsKnown: false }],
  stands("LOSS_CONFIRMATION_PENDING", ""),
  stands("LOSS_NOT_JUDGED", "daily: the fund has not been valued"),
  stands("DISK_LOW", "The disk of /data has 900 MB free"),
  stands("UNAUDITED_CHANGE", "The row h-1 of halt was removed without its event"),
  stands("AUDIT_UNAVAILABLE", "The audit log does not verify since 12:00"),
] as const;

describe.each(situations)("%s", (code, halted) => {
  const under = (spoil: Spoil) => judge((draft) => [spoil(draft), Object.assign(draft.view, halted)]);
  const exit: Spoil = ({ order, view }) => {
    Object.assign(order, { side: "SELL", quantity: "100", reduce_only: true });
    view.position = d("100");
  };

  test("stops new risk", () => expect(under(() => undefined)).toMatchObject({ code, gate: "drawdown_halt" }));

  test("trap: a halt must not block the exit", () => {
    expect(under(exit)).toMatchObject({ approved: true });
  });

  test("an exit passes without prices and without NAV too", () => {
    const blind: Spoil = (draft) => {
      exit(draft);
      Object.assign(draft.order, { order_type: "MARKET", limit_price: undefined });
      Object.assign(draft.view, { price: undefined, nav: undefined, priceAgeMs: Number.NaN, navAgeMs: Number.NaN });
    };
    expect(under(blind)).toMatchObject({ approved: true });
  });

  test("an exit that is not marked is stopped", () => {
    expect(under((draft) => [exit(draft), Object.assign(draft.order, { reduce_only: false })]).code).toBe(code);
  });

  test("an envelope may stop exits in a halt as well, and never for want of an audit log or of room on the disk", () => {
    const strict: Spoil = (draft) => [exit(draft), Object.assign(draft.envelope, { halt_allow_reduce_only: false })];
    expect(under(strict)).toMatchObject(
      ["AUDIT_UNAVAILABLE", "DISK_LOW", "UNAUDITED_CHANGE"].includes(code) ? { approved: true } : { code },
    );
  });

  test("trap: oversize by one lot is no exit, and neither is the second of two concurrent closes", () => {
    const oversize: Spoil = (draft) => [
      exit(draft),
      Object.assign(draft.order, { quantity: "101", reduce_only: false }),
    ];
    expect(under(oversize).code).toBe(code);
    const second: Spoil = (draft) => [exit(draft), Object.assign(draft.view, { pendingSell: d("1") })];
    expect(under(second).code).toBe("SCHEMA_REDUCE_ONLY_UNPROVEN");
  });
});

test("a known halt is named even when the newest state cannot be read", () => {
  const outcome = judge(({ view }) =>
    Object.assign(view, { halt: "FUND_HALT", haltId: "halt-9", haltReason: "daily loss", haltsKnown: false }),
  );
  expect(outcome.code).toBe("FUND_HALTED");
  expect(outcome.reason).toBe("The fund is halted by halt-9 (daily loss), and the order adds risk.");
  expect(outcome.figures.get("halt_epoch")).toBe("7");
  expect(outcome.figures.get("halt_id")).toBe("halt-9");
});
