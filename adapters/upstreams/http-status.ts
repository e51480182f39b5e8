// Whether somebody answers over HTTP, and with which status. Nothing of the answer is read: who is only asked whether he is there may say what he likes.

interface StatusQuestion {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Rejects with a sentence that repeats nothing of the question: its headers may carry a key. */
export async function httpStatus({ url, headers = {}, signal }: StatusQuestion): Promise<number> {
  try {
    const response = await fetch(url, { headers, signal, redirect: "manual" });
    await response.body?.cancel();
    return response.status;
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.cause : undefined;
    const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? ` (${cause.code})` : "";
    throw new Error(signal.aborted ? "It did not answer in time." : `It cannot be reached${code}.`);
  }
}
