// Whether a listener of this machine has been sent something that its process has not read, as of one that was stopped with SIGSTOP. Linux only.
import { readFileSync } from "node:fs";

const established = "01";

/** Of IPv4 listeners, by the kernel's own list. */
export function hasUnreadRequest(port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .some(([, address = "", , state, queues = ""]) => {
      const [, unread = "0"] = queues.split(":");
      return address.endsWith(local) && state === established && Number.parseInt(unread, 16) > 0;
    });
}
