// What the desks are made of: the libraries whose licences ask to be named on a page.
export function About() {
  return (
    <section className="panel about" aria-labelledby="about">
      <h1 id="about">About the desks</h1>
      <p>
        Portcullis is under the Apache License 2.0. Charts are drawn by TradingView Lightweight Charts, © TradingView,
        Inc.,{" "}
        <a href="https://www.tradingview.com/" rel="noreferrer">
          tradingview.com
        </a>
        , under the Apache License 2.0. Text is set in Inter, © The Inter Project Authors, and JetBrains Mono, © The
        JetBrains Mono Project Authors, both under the SIL Open Font License 1.1. Pages are built with React, TanStack
        Router, Query and Virtual, Base UI and openid-client, under the MIT License.
      </p>
      <p>
        No page loads anything from another address, and nothing but the name of the last desk is kept in the browser.
      </p>
    </section>
  );
}
