// Ends what was opened, the newest first. One that fails does not keep the others open; its error is thrown when all have ended.
export type Endings = (() => Promise<void>)[];

/** Empties the list, so that a second call finds nothing left to do. Rejects with the first error. */
export async function endAll(endings: Endings): Promise<void> {
  const errors: unknown[] = [];
  for (const end of endings.splice(0).reverse()) {
    try {
      await end();
    } catch (thrown) {
      errors.push(thrown);
    }
  }
  if (errors.length > 0) throw errors[0];
}
