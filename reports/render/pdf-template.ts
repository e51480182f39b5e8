// The layout of a report on paper, in typst. It reads its data as JSON and sets it as text: nothing that stands in a report is ever markup.
export const pdfTemplate = `
#let pages = json("pages.json")
#let soft = rgb("#5a626d")
#let line-colour = rgb("#d0d5dc")
#let bad = rgb("#b3261e")
#let stamp(body, colour) = box(stroke: 0.8pt + colour, inset: (x: 5pt, y: 2.5pt), radius: 1.5pt, text(size: 8pt, weight: 600, fill: colour, body))

#set document(title: pages.title, author: "Portcullis", date: none)
#set text(font: ("Inter", "JetBrains Mono"), size: 9pt, lang: "en", fallback: false, hyphenate: false, ligatures: false, features: ("calt": 0), number-width: "tabular", fill: rgb("#1a1d21"))
#set par(leading: 0.6em)
#set page(
  paper: "a4",
  margin: (x: 12mm, top: 21mm, bottom: 17mm),
  header: context {
    set text(size: 7.5pt, fill: soft)
    grid(columns: (1fr, auto), align: (left + horizon, right + horizon), column-gutter: 4mm,
      if here().page() > 1 { pages.heading } else { [] },
      {
        if pages.stamps.broken { stamp("DOES NOT RECONCILE", bad); h(2mm) }
        if pages.stamps.paper { stamp("PAPER", soft) }
      })
  },
  footer: context {
    set text(size: 7pt, fill: soft)
    line(length: 100%, stroke: 0.4pt + line-colour)
    v(-1.5mm)
    grid(columns: (1fr, auto), pages.footing, [Page #counter(page).display() of #counter(page).final().first()])
  },
)
#set table(stroke: none, inset: (x: 3.5pt, y: 2.6pt))
#set table.cell(breakable: false)
#show heading.where(level: 1): it => block(above: 0pt, below: 2.5mm, text(size: 17pt, weight: 600, it.body))
#show heading.where(level: 2): it => block(above: 7mm, below: 2.5mm, width: 100%, stroke: (bottom: 0.6pt + line-colour), inset: (bottom: 1.6mm), sticky: true, text(size: 12pt, weight: 600, it.body))
#let caption(body) = block(above: 3.5mm, below: 1.4mm, sticky: true, text(size: 8pt, fill: soft, body))
#let rules = (_, y) => (bottom: if y == 0 { 0.8pt + soft } else { 0.3pt + line-colour })

#let set-table(block-data) = {
  let columns = block-data.columns
  caption(block-data.title)
  set text(size: block-data.size * 1pt)
  table(
    columns: columns.map(column => column.share * 1fr),
    align: (x, y) => (if columns.at(x).number { right } else { left }) + (if y == 0 { bottom } else { top }),
    stroke: rules,
    table.header(..columns.map(column => text(weight: 600, column.title))),
    ..if block-data.rows.len() == 0 { (table.cell(colspan: columns.len(), text(fill: soft, "None in this period.")),) } else { block-data.rows.flatten().map(cell => text(cell)) },
  )
  if block-data.more != "" { text(size: 8pt, weight: 600, block-data.more) }
}

#let set-figures(block-data) = {
  set text(size: 8pt)
  table(
    columns: (1.1fr, auto, 1.7fr, 1.3fr),
    align: (x, _) => if x == 1 { right } else { left },
    stroke: rules,
    table.header(..("Figure", "Value", "Definition", "Made of").map(name => text(weight: 600, name))),
    ..block-data.rows.map(row => (
      text(row.at(0)),
      text(row.at(1)),
      text(font: "JetBrains Mono", size: 6.6pt, row.at(2)),
      text(size: 7pt, fill: soft, row.at(3)),
    )).flatten(),
  )
}

#let set-block(block-data) = {
  if block-data.kind == "table" { set-table(block-data) }
  if block-data.kind == "figures" { set-figures(block-data) }
  if block-data.kind == "text" { block(above: 2.5mm, below: 2.5mm, text(block-data.text)) }
  if block-data.kind == "chart" {
    block(breakable: false, width: 100%, {
      caption(block-data.title)
      image(block-data.file, width: 100%, alt: block-data.alt)
    })
  }
}

#heading(level: 1, pages.title)
#text(fill: soft, pages.period)
#for section in pages.sections {
  let wide = section.blocks.filter(block-data => block-data.kind == "table" and block-data.lying)
  let upright = section.blocks.filter(block-data => not (block-data.kind == "table" and block-data.lying))
  if upright.len() > 0 {
    heading(level: 2, section.title)
    for block-data in upright { set-block(block-data) }
  }
  if wide.len() > 0 {
    page(flipped: true, {
      if upright.len() == 0 { heading(level: 2, section.title) }
      for block-data in wide { set-block(block-data) }
    })
  }
}
`;
