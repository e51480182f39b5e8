// An order id and a key belong to whoever used them first: another caller is denied, learns nothing of the first decision, and changes nothing of the order.
import { describe, expect, it } from "vitest";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import { engineFixture, fillOf, moment, orderOf, startOfDay, transitionOf } from "../../testkit/risk/engine-fixture.ts";
import { inputsOf } from "../engine/decision.ts";
import { unpackViews } from "../engine/fast/view-bytes.ts";

const desk = { actor: "service:desk", isPlatform: false };
const other = { actor: "service:other", isPlatform: false };
const asked = (differs: Partial<Order> = {}): Order => orderOf("a", { quantity: "100", ...differs });
const again = asked({ idempotency_key: "another key", quantity: "150" });

describe("an order id of another source", () => {
  it("is denied by the gate schema, while the order is open, after it ended and after it ran out; nothing moves", () => {
    const engine = engineFixture();
    const order = asked();
    engine.check(order, moment(0), desk);
    const before = engine.snapshot().orders;
    const denied = engine.check(again, moment(1), other);
    expect([denied.outcome, denied.gate, denied.code]).toEqual(["denied", "schema", "ORDER_NOT_YOURS"]);
    expect(denied.reason).not.toContain("desk");
    expect(unpackViews(inputsOf(denied))[0].view.amendRefusal).toBe("not yours");
    expect(engine.snapshot().orders).toEqual(before);
    expect(engine.check({ ...again, idempotency_key: "dry", dry_run: true }, moment(2), other).code).toBe(
      "ORDER_NOT_YOURS",
    );
    expect(engine.check({ ...again, idempotency_key: "own" }, moment(3), desk).outcome).toBe("approved");
    engine.applyFill(fillOf(order, "100"));
    engine.applyTransition(transitionOf(order, "CANCELLED", { filled_quantity: "100" }));
    expect(engine.snapshot().orders).toEqual([]);
    expect(engine.check({ ...again, idempotency_key: "late" }, moment(4), other).code).toBe("ORDER_NOT_YOURS");
  });

  it("is denied after its approval ran out unsent, and its asker may ask anew", () => {
    const engine = engineFixture();
    engine.check(asked(), moment(0), desk);
    const { through } = engine.unsent("a") ?? { through: startOfDay };
    engine.expire("a", through);
    expect(engine.check(again, moment(1), other).code).toBe("ORDER_NOT_YOURS");
    expect(engine.check({ ...again, idempotency_key: "own" }, moment(2), desk).outcome).toBe("approved");
  });

  it("is that of the source to which it was handed over", () => {
    const engine = engineFixture();
    engine.check(asked(), moment(0), desk);
    engine.setHandOvers([{ from: "desk", to: "other", at: moment(1) }]);
    expect(engine.ownerOf("a")).toBe("other");
    expect(engine.check(again, moment(2), desk).code).toBe("ORDER_NOT_YOURS");
    expect(engine.check({ ...again, idempotency_key: "own" }, moment(3), other).outcome).toBe("approved");
    expect(engine.approvals({ fundId: undefined, unsent: false, owner: "desk", countMax: 10 })).toEqual([]);
    expect(engine.approvals({ fundId: undefined, unsent: false, owner: "other", countMax: 10 })).toHaveLength(1);
  });
});

describe("a key of another source", () => {
  it("is a reused one also with the very same order, here and after a restart", () => {
    const engine = engineFixture();
    const first = engine.check(asked(), moment(0), desk);
    expect(engine.check(asked(), moment(1), desk).duplicate).toBe("same order");
    const denied = engine.check(asked(), moment(2), other);
    expect([denied.code, denied.duplicate]).toEqual(["KEY_REUSED", "another order"]);
    const after = engineFixture();
    after.rememberOrder(asked(), first.at, "service:desk");
    expect(after.check(asked(), moment(1), desk).duplicate).toBe("same order");
    expect(after.check(asked(), moment(2), other).duplicate).toBe("another order");
  });
});
