/** The whole style of the documentation page. Its hash stands in the page's policy, so nothing else can style it. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dade, #3a3d44); --soft: light-dark(#f5f6f8, #1d1f23); --text: light-dark(#1b1d21, #e6e7ea); --dim: light-dark(#5b606b, #a0a5b0); --link: light-dark(#0b57b7, #8ab4ff); }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 6rem; max-width: 62rem; color: var(--text); background: light-dark(#fff, #141518); font: 16px/1.55 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin: 3rem 0 .5rem; padding-top: .5rem; border-top: 1px solid var(--line); }
h3 { margin: 2.25rem 0 .25rem; font-size: 1.05rem; overflow-wrap: anywhere; }
h4 { margin: 1rem 0 .25rem; font-size: .85rem; color: var(--dim); }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font: .875em/1.5 ui-monospace, monospace; }
pre { margin: .25rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; max-height: 26rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-size: .85rem; color: var(--dim); font-weight: 600; }
td:first-child { white-space: nowrap; }
.method { display: inline-block; min-width: 4.5em; }
.dim { color: var(--dim); }
.wide { overflow-x: auto; }
nav ul { padding: 0; list-style: none; }
nav li { padding: .15rem 0; }
@media (max-width: 40rem) { td:first-child { white-space: normal; } }
`;
