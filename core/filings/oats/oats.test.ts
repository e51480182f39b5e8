// What stands in an archive of OATS, and what does not.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parse } from "../../../contracts/src/instant.ts";
import type { FiledDetails, FiledEventType, FiledOrder } from "../../../contracts/src/records/filing.ts";
import type { KnownOrder } from "../regulatory-event.ts";
import { oats } from "./oats-regime.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const at = parse("2026-11-13T14:30:00.000001Z");
const fund = { oats: { mpid: "ABCD" } };
const order: FiledOrder = {
  order_id: "o-1",
  fund_id: "alpha",
  symbol: "AAPL",
  side: "SELL_SHORT",
  quantity: "500",
  order_type: "LIMIT",
  limit_price: "190.25",
  tif: "DAY",
  broker: "paper",
  asset_class: "EQUITY",
};
const began: KnownOrder = { orderId: "o-1", symbol: "AAPL", beganAt: at, isChild: false };

function made(type: FiledEventType, differs: Partial<FiledOrder> = {}, known?: KnownOrder, details: FiledDetails = {}) {
  const event = { type, at, order: { ...order, ...differs }, details, key: "k" };
  return oats.record(event, { fund, known: { order: known }, strategies: [], sha256 });
}

const fields = (record: ReturnType<typeof made>): readonly string[] =>
  record.status === "WRITTEN" ? record.line.split(",") : [record.status];

describe("an archive", () => {
  it("has new orders, routes and cancellations, each with the fields of its layout", () => {
    const roe = sha256(JSON.stringify(["k", "NW"]))
      .slice(0, 12)
      .toUpperCase();
    expect(fields(made("new_order"))).toEqual(
      `#OE#,NW,N,${roe},,,ABCD,20261113000000,o-1,,,20261113093000,E,AAPL,SS,500,190.25,N,,DAY,,,,,,,,,,,,A,N,N,`.split(
        ",",
      ),
    );
    expect(fields(made("order_routed", {}, began))).toHaveLength(18);
    expect(fields(made("order_cancelled", {}, began)).slice(9)).toEqual([
      "AAPL",
      "20261113093000",
      "F",
      "500",
      "0",
      "F",
      "",
    ]);
    expect(fields(made("order_cancelled", {}, began, { leaves_quantity: "1" }))[11]).toBe("P");
  });

  it("has nothing of options, crypto, trades and changes", () => {
    expect(made("new_order", { asset_class: "OPTION" }).status).toBe("NOT_REPORTABLE");
    expect(made("new_order", { asset_class: "CRYPTO" }).status).toBe("NOT_REPORTABLE");
    for (const type of ["fill", "order_modified", "route_cancelled"] as const) {
      expect(made(type, {}, began).status).toBe("NOT_REPORTABLE");
    }
  });

  it("puts aside what cannot be linked, and what would end a field", () => {
    expect(made("order_routed").status).toBe("QUARANTINED");
    expect(made("new_order", {}, began).status).toBe("QUARANTINED");
    expect(made("new_order", { order_id: "a,b" }).status).toBe("QUARANTINED");
  });

  it("begins with a header and ends with the count, and no answer says that anybody takes it", () => {
    const of = { fund, group: "alpha", date: "2026-11-13", number: 1, records: 2, sealedAt: at };
    expect(oats.file.name(of)).toEqual({ name: "20261113_alpha_000001.fore" });
    expect(oats.file.head(of)).toBe("#HD#,OATS D1999-01,20261113,ABCD,,,,ABCD\n");
    expect(oats.file.tail(of)).toBe("#TR#,2,\n");
    expect(oats.answersWith).toBe("FILING_REGIME_RETIRED");
  });
});
