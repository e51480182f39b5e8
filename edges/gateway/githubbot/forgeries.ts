// What is charged for deliveries whose signature does not hold: to their address, and to all such together. A good one is charged nothing, and an address that
// sent one is never turned away because of others.
//
//  1. Memory is bounded: the address that was charged longest ago is forgotten first.
interface Bucket {
  left: number;
  atMs: number;
}

/** So many at once, and so many a second after that. */
const ofAddress = { burst: 60, perS: 1 };
const ofAll = { burst: 600, perS: 10 };
const addressesMax = 5_000;
const knownMax = 256;

export interface Forgeries {
  /** In how many seconds it may come again; undefined when it may now. */
  waitS(address: string): number | undefined;
  charge(address: string): void;
  /** It sent a good one. */
  know(address: string): void;
}

export function forgeries(nowMs: () => number): Forgeries {
  const buckets = new Map<string, Bucket>();
  const known = new Set<string>();
  /** Made with the first request: routes are also made to be described. */
  let all: Bucket | undefined;

  function fill(bucket: Bucket, { burst, perS }: typeof ofAll): Bucket {
    const now = nowMs();
    bucket.left = Math.min(burst, bucket.left + (Math.max(0, now - bucket.atMs) / 1_000) * perS);
    bucket.atMs = now;
    return bucket;
  }

  function together(): Bucket {
    all ??= { left: ofAll.burst, atMs: nowMs() };
    return fill(all, ofAll);
  }

  function bucketOf(address: string): Bucket {
    return buckets.get(address) ?? { left: ofAddress.burst, atMs: nowMs() };
  }

  return {
    waitS(sender) {
      const address = callerKey(sender);
      const own = fill(bucketOf(address), ofAddress).left;
      if (own < 1) return Math.ceil((1 - own) / ofAddress.perS);
      const others = together().left;
      return others < 1 && !known.has(address) ? Math.ceil((1 - others) / ofAll.perS) : undefined;
    },
    charge(sender) {
      const address = callerKey(sender);
      const own = fill(bucketOf(address), ofAddress);
      own.left = Math.max(0, own.left - 1);
      buckets.delete(address);
      buckets.set(address, own);
      const [oldest] = buckets.size > addressesMax ? buckets.keys() : [];
      if (oldest !== undefined) buckets.delete(oldest);
      const shared = together();
      shared.left = Math.max(0, shared.left - 1);
    },
    know(sender) {
      const address = callerKey(sender);
      known.delete(address);
      known.add(address);
      const [oldest] = known.size > knownMax ? known : [];
      if (oldest !== undefined) known.delete(oldest);
    },
  };
}

/** An IPv4 address is one however it is written, and a whole IPv6 /64 is one. */
function callerKey(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  if (tail === undefined) return groups.slice(0, 4).join(":");
  const end = tail.split(":").filter((group) => group !== "");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - end.length) }, () => "0");
  return [...groups, ...zeros, ...end].slice(0, 4).join(":");
}
