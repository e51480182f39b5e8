// The browser's fetch with two ears: the stream of events says when anything of it arrives, breaks or cannot be had, and a token that is refused is noticed.

interface Ears {
  heard(): void;
  failed(): void;
  refused(): void;
}

const streamPath = "/v1/events";

export function tappedFetch(ears: Ears): typeof fetch {
  return async (input, init) => {
    const isStream = new URL(String(input)).pathname.endsWith(streamPath);
    let response: Response;
    try {
      response = await fetch(input, init);
    } catch (thrown) {
      if (isStream && init?.signal?.aborted !== true) ears.failed();
      throw thrown;
    }
    if (response.status === 401) ears.refused();
    if (!isStream) return response;
    if (!response.ok || response.body === null) {
      ears.failed();
      return response;
    }
    ears.heard();
    return new Response(tapped(response.body, ears), response);
  };
}

function tapped(body: ReadableStream<Uint8Array>, ears: Ears): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          ears.failed();
          controller.close();
          return;
        }
        ears.heard();
        controller.enqueue(value);
      } catch (thrown) {
        ears.failed();
        controller.error(thrown);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
