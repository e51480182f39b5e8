// Reference data that names a symbol which is called otherwise from now on: the instrument itself, borrow and the restricted list, each as a new version in
// the transaction that renames what is held.
import { format } from "../../../contracts/src/instant.ts";
import type { ReferenceKind } from "../../../contracts/src/records/reference.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { canonicalText } from "../../../core/envelope/canonical-text.ts";
import { hexOf } from "../slicing.ts";
import type { Applying } from "./applying.ts";

const kinds = ["instruments", "borrow", "restricted"] as const satisfies readonly ReferenceKind[];

export async function renameReference({ unit, ports, action, at }: Applying): Promise<void> {
  const names = new Map(
    action.legs
      .filter((leg) => leg.symbol !== leg.new_symbol)
      .map(({ symbol, new_symbol: newSymbol }) => [symbol, newSymbol]),
  );
  if (names.size === 0) return;
  for (const kind of kinds) {
    const locked = await unit.reference.lock(kind);
    const records = (locked?.content ?? []) as readonly { readonly symbol: string }[];
    if (locked === undefined || !records.some(({ symbol }) => names.has(symbol))) continue;
    const content = records.map((one) => ({ ...one, symbol: names.get(one.symbol) ?? one.symbol }));
    const [version, hash] = [locked.version + 1, hexOf(ports.sha256(canonicalText(content)))];
    const { bookedBy: setBy, actionId } = action;
    const reason = `corporate action ${actionId}`;
    await unit.reference.put({ kind, version, content, setBy, setAt: at, reason, hash });
    const told = { kind, version, set_by: setBy, set_at: format(at), reason, hash };
    await unit.events.publish(subjects.referenceChanged, told);
  }
}
