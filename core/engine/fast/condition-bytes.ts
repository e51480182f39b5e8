// The conditions that covered an order, as bytes of its recorded view: one form for all of them. Most orders have none, and then it is one byte.
import type { DenialCode } from "../../../contracts/src/codes.ts";
import type { Fact, StandingCondition } from "../../state/standing-condition.ts";
import { noneStands } from "../../state/standing-condition.ts";
import type { ByteReader, ByteWriter } from "./byte-columns.ts";

export function writeConditions(writer: ByteWriter, conditions: readonly StandingCondition[]): void {
  writer.byte(conditions.length);
  if (conditions.length === 0) return;
  for (const { code, reason, symbol, facts = [], count = 1 } of conditions) {
    writer.text(code);
    writer.text(reason);
    writer.text(symbol);
    writer.number(count);
    writer.byte(facts.length);
    for (const [name, value] of facts) {
      writer.text(name);
      writer.text(value);
    }
  }
}

/** What they were by the rules of then; a code that has gone since was decided by other rules and is not read. */
export function readConditions(reader: ByteReader): readonly StandingCondition[] {
  const count = reader.byte();
  return count === 0 ? noneStands : Array.from({ length: count }, () => readCondition(reader));
}

function readCondition(reader: ByteReader): StandingCondition {
  const code = (reader.text() ?? "") as DenialCode;
  const [reason = "", symbol] = [reader.text(), reader.text()];
  const count = reader.number();
  const facts = Array.from({ length: reader.byte() }, (): Fact => [reader.text() ?? "", reader.text() ?? ""]);
  return {
    code,
    reason,
    ...(symbol !== undefined && { symbol }),
    ...(facts.length > 0 && { facts }),
    ...(count > 1 && { count }),
  };
}
