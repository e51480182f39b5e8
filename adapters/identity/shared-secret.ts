// A secret that the platform makes for itself: of several processes that start at once, one makes it and all use that one.
import { Fault } from "../../contracts/src/fault.ts";
import type { Secrets } from "../../ports/secrets.ts";

/** The value at that path; `make` is asked only when there is none. */
export async function findOrMakeSecret(secrets: Secrets, path: string, make: () => string): Promise<string> {
  const found = await secrets.get(path);
  if (found !== undefined) return found.value;
  try {
    return (await secrets.put(path, make(), { expectedVersion: 0 })).value;
  } catch (thrown) {
    if (!(thrown instanceof Fault && thrown.code === "SECRETS_CONFLICT")) throw thrown;
    // Somebody else was faster: theirs counts.
    const theirs = await secrets.get(path);
    if (theirs === undefined) throw thrown;
    return theirs.value;
  }
}
