// How the page of the API looks. One style sheet inside the page: nothing is loaded.
export const docs_style = `
:root { color-scheme: light dark; --ink: #1b2328; --soft: #5a6872; --line: #dfe5e8; --ground: #fbfcfc; --panel: #f1f5f5;
  --accent: #0b6e69; --get: #1d5fa8; --post: #0b6e4f; --put: #8a5a00; --delete: #a8322a; --bad: #a8322a; --shade: #1b232840; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e9ec; --soft: #9aa8b1; --line: #2c363c; --ground: #12181b; --panel: #1a2226;
  --accent: #4fc4bb; --get: #7db4f0; --post: #62cf9f; --put: #e0b25a; --delete: #f0877d; --bad: #f0877d; --shade: #000000b0; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 88rem; display: grid; grid-template-columns: 19rem minmax(0, 1fr); color: var(--ink); background: var(--ground);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
a { color: inherit; text-decoration-color: var(--line); text-underline-offset: .2em; }
a:hover { text-decoration-color: var(--accent); }
a:focus-visible, nav:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: .5rem; z-index: 1; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.25rem 1rem 3rem; border-right: 1px solid var(--line);
  font-size: .8125rem;
  /* A shadow at the edge behind which there is more. */
  background: linear-gradient(var(--panel) 30%, transparent) top / 100% 2.5rem local no-repeat, linear-gradient(transparent, var(--panel) 70%) bottom / 100% 2.5rem local no-repeat,
    linear-gradient(var(--shade), transparent) top / 100% .875rem scroll no-repeat, linear-gradient(transparent, var(--shade)) bottom / 100% .875rem scroll no-repeat, var(--panel); }
nav a { text-decoration: none; } nav a:hover { color: var(--accent); }
nav .brand { font-size: 1rem; font-weight: 650; margin: 0 0 .5rem; } nav .brand span { color: var(--soft); font-weight: 400; font-size: .8125rem; }
nav h2 { font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 1.25rem 0 .25rem; }
nav ul { list-style: none; margin: 0; padding: 0; } nav li { padding: .125rem 0; line-height: 1.35; }
nav li a { display: grid; grid-template-columns: 3.4rem 1fr; }
main { padding: 2rem clamp(1rem, 4vw, 3.5rem) 6rem; max-width: 68rem; min-width: 0; }
h1 { font-size: 2rem; margin: 0; letter-spacing: -.01em; } .lead { color: var(--soft); font-size: 1.125rem; margin: .25rem 0 1.5rem; }
h2 { font-size: 1.375rem; margin: 3rem 0 .5rem; } main section > h2::first-letter { text-transform: uppercase; }
h3 { font-size: 1rem; margin: 0; font-weight: 500; overflow-wrap: anywhere; } h3 a { text-decoration: none; }
h4 { font-size: .8125rem; margin: 1rem 0 .25rem; color: var(--soft); text-transform: uppercase; letter-spacing: .05em; }
h4 small { text-transform: none; letter-spacing: 0; font-weight: 400; }
article { border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.25rem; margin: 1rem 0; }
article:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.summary { margin: .375rem 0 .5rem; font-weight: 550; } .summary small, small { color: var(--soft); font-weight: 400; }
p { margin: .5rem 0; max-width: 46rem; } li { margin: .25rem 0; max-width: 46rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; overflow-x: auto; }
:not(pre) > code { background: var(--panel); border-radius: 4px; padding: .05em .3em; } h3 code, nav code { background: none; padding: 0; font-size: .9375rem; }
.m { font: 650 .6875rem/1.9 ui-monospace, monospace; letter-spacing: .03em; }
.GET { color: var(--get); } .POST { color: var(--post); } .PUT, .PATCH { color: var(--put); } .DELETE { color: var(--delete); }
h3 .m { border: 1px solid currentColor; border-radius: 5px; padding: .1rem .4rem; margin-right: .35rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .875rem; }
td { border-top: 1px solid var(--line); padding: .375rem .75rem .375rem 0; vertical-align: top; }
td:nth-child(1) { white-space: nowrap; } td:nth-child(2), td:nth-child(3):not(:last-child) { color: var(--soft); max-width: 16rem; min-width: 5rem; overflow-wrap: anywhere; }
td:last-child { overflow-wrap: anywhere; } td td:nth-child(n) { white-space: normal; min-width: 0; overflow-wrap: anywhere; } td td td { display: block; border: 0; padding: 0; } td td tr { border-top: 1px solid var(--line); }
details { margin: .25rem 0; } summary { cursor: pointer; } td details { font-size: .8125rem; } .scroll .scroll { padding-left: .5rem; }
.s { font: 600 .8125rem ui-monospace, monospace; color: var(--post); } .bad { color: var(--bad); } .refused, .type { color: var(--soft); font-size: .875rem; }
dt { margin-top: 1rem; } dt a { text-decoration: none; } dt:target { outline: 2px solid var(--accent); outline-offset: 4px; border-radius: 2px; } dd { margin: .125rem 0 0; max-width: 46rem; }
@media (max-width: 52rem) { body { display: block; } article { padding: .75rem; } td { padding-right: .5rem; } 
  table, tbody, tr, td { display: block; } tr { border-top: 1px solid var(--line); padding: .375rem 0; } td, td:nth-child(n) { border: 0; padding: 0; max-width: none; white-space: normal; overflow-wrap: anywhere; }
  .scroll .scroll { border-left: 2px solid var(--line); } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  nav { position: static; height: auto; max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); } }
@media print { nav { display: none; } body { display: block; } article { break-inside: avoid; } }
`;
