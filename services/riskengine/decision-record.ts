// A decision's record as it is stored: a DecisionRecord message, written by hand into one buffer of exactly its size, because the order
// stands in it as it came and is never encoded a second time.

/** Field numbers of DecisionRecord in riskdesk.proto; all three are length-delimited. */
const orderTag = (1 << 3) | 2;
const decisionTag = (2 << 3) | 2;
const inputsTag = (3 << 3) | 2;

export function packDecisionRecord(order: Uint8Array, decision: Uint8Array, inputs: Uint8Array): Uint8Array {
  const packed = new Uint8Array(sizeOf(order) + sizeOf(decision) + sizeOf(inputs));
  let place = writeField(packed, 0, orderTag, order);
  place = writeField(packed, place, decisionTag, decision);
  writeField(packed, place, inputsTag, inputs);
  return packed;
}

function sizeOf(content: Uint8Array): number {
  return 1 + varintSize(content.length) + content.length;
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) size += 1;
  return size;
}

function writeField(into: Uint8Array, at: number, tag: number, content: Uint8Array): number {
  let place = at;
  into[place] = tag;
  place += 1;
  let rest = content.length;
  while (rest > 0x7f) {
    into[place] = (rest & 0x7f) | 0x80;
    place += 1;
    rest >>>= 7;
  }
  into[place] = rest;
  place += 1;
  into.set(content, place);
  return place + content.length;
}
