// The runtime's own `fetch`, for tests of what only it does; its connection too ends with the answer.
export const runtimeFetch: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set("connection", "close");
  return fetch(input, { ...init, headers });
};
