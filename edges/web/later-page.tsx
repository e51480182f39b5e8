// A desk that is in the list and not built yet: it says so, and where the same is found meanwhile.
export function LaterPage() {
  return (
    <p className="note">
      This desk comes with a later release. What it will show is in <code>ctl ls</code> and in{" "}
      <a href="/docs">the API</a> today.
    </p>
  );
}
