// Under which name a remote address is counted, wherever something is bounded for each caller.
/** Under which name an address is counted: an IPv4 address is one however it is written, and an IPv6 /64 is one. */
export function callerKey(address: string): string {
  const plain = plainAddress(address);
  return plain.includes(":") ? subnetOf(plain) : plain;
}

/** As an IPv4 caller writes it, also on a listener for both families. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Undefined for what many share. A whole IPv6 /64 is one caller, because every home has that many addresses. */
export function callerOf(address: string | undefined, isShared?: (address: string) => boolean): string | undefined {
  const plain = address === undefined ? undefined : plainAddress(address);
  if (plain === undefined || plain === "::1" || plain.startsWith("127.") || isShared?.(plain)) return undefined;
  return plain.includes(":") ? subnetOf(plain) : plain;
}

function subnetOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  if (tail === undefined) return groups.slice(0, 4).join(":");
  const end = tail.split(":").filter((group) => group !== "");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - end.length) }, () => "0");
  return [...groups, ...zeros, ...end].slice(0, 4).join(":");
}
