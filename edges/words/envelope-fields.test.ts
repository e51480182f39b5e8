// The list of limits misses none that a person sets, and the gates' questions miss no gate.
import { expect, it } from "vitest";
import { gateQuestions } from "../../contracts/src/generated/gates.ts";
import { riskEnvelope } from "../../contracts/src/records/envelope.ts";
import { assetClass, gateName, orderType } from "../../contracts/src/records/values.ts";
import { type EnvelopeField, envelopeFields } from "./envelope-fields.ts";

const fields: readonly EnvelopeField[] = envelopeFields;

it("has every field of the record but those that name it or that the engine writes", () => {
  const written = ["fund_id", "version", "updated_by", "updated_at", "reason", "loosening", "hash"];
  const named = Object.keys(riskEnvelope.shape).filter((name) => !written.includes(name));
  expect(fields.map(({ name }) => name).sort()).toEqual(named.sort());
});

it("says of exactly those that may be absent what absence means", () => {
  const shape: Readonly<Record<string, { safeParse(value: unknown): { success: boolean } }>> = riskEnvelope.shape;
  const optional = fields.filter(({ name }) => shape[name]?.safeParse(undefined).success === true);
  const reported = fields.filter(({ absent }) => absent !== undefined);
  // On the wire this one may be absent, and counts as true then.
  expect(reported.map(({ name }) => name)).toEqual(
    fields
      .filter((field) => optional.includes(field) || field.name === "halt_allow_reduce_only")
      .map(({ name }) => name),
  );
});

it("knows the words that lists may have", () => {
  const valuesOf = (name: string) => fields.find((field) => field.name === name)?.values;
  expect(valuesOf("allowed_order_types")).toEqual(orderType.options);
  expect(valuesOf("allowed_asset_classes")).toEqual(assetClass.options);
});

it("every gate has its question, in the order of the gates", () => {
  expect(Object.keys(gateQuestions)).toEqual(gateName.options);
  for (const question of Object.values(gateQuestions)) expect(question).toMatch(/^[A-Z].*\?$/);
});
