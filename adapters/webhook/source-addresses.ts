// From which addresses alerts are taken: single ones and ranges, of both families. An empty list admits nobody.
import { BlockList, isIP } from "node:net";

export function sourceAddresses(listed: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of listed) {
    const [address = "", bits] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? "ipv6" : "ipv4");
  };
}
