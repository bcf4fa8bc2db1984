/** Code that does not end by itself. Each row is a form that the guards must stop. */
export const ENDLESS_CODE: readonly { name: string; code: string }[] = [
  { name: "a while loop", code: "while (true) {}" },
  { name: "a while loop without a body", code: "while (1);" },
  { name: "a for loop", code: "for (;;) {}" },
  { name: "a for loop without a body", code: "for (let i = 0; ; i = Math.sin(i));" },
  { name: "a do loop without a block", code: "let n = 0; do n++; while (true)" },
  { name: "a loop that continues at a label", code: "a: for (;;) { for (;;) continue a }" },
  {
    name: "nested loops without blocks",
    code: "while (1) while (1) for (;;) if (0) break",
  },
  {
    name: "a loop that catches every error",
    code: "for (;;) { try { for (;;); } catch {} finally { continue } }",
  },
  {
    name: "an endless generator",
    code: "function* g() { for (;;) yield 1 } for (const x of g()) x",
  },
  {
    name: "an endless generator in a spread",
    code: "function* g() { for (;;) yield 1 } [...(function* () { for (const x of g()) ; })()]",
  },
  {
    name: "a custom iterator",
    code: "[...{ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }]",
  },
  { name: "a loop over an array that grows", code: "const a = [1]; for (const x of a) a.push(x)" },
  {
    name: "forEach over a set that grows",
    code: "const s = new Set([1]); s.forEach((x) => { s.delete(x); s.add(x) })",
  },
  {
    name: "recursion that catches its own error",
    code: "function f() { try { f() } finally { f() } } f()",
  },
  {
    name: "recursion of an arrow function",
    code: "const f = (n) => n === 0 ? 0 : f(n - 1) + f(n - 1); f(60)",
  },
  {
    name: "recursion of a getter",
    code: "const o = { n: 60, get a() { if (this.n-- > 0) { this.a; this.a } this.n++ } }; o.a",
  },
  {
    name: "recursion of a proxy",
    code: "const p = (n) => new Proxy({}, { get: () => n && (p(n - 1).x, p(n - 1).x) }); p(60).x",
  },
  {
    name: "recursion of a tagged template",
    code: "const t = (s, n) => n && (t`${n - 1}`, t`${n - 1}`); t`${60}`",
  },
  {
    name: "recursion of a conversion to text",
    code: "let n = 60; const o = { toString() { n--; if (n > 0) { `${o}`; `${o}` } n++; return '' } }; `${o}`",
  },
  {
    name: "recursion in default values",
    code: "function* g(n, a = n && g(n - 1), b = n && g(n - 1)) {} g(60)",
  },
  {
    name: "recursion in computed keys of parameters",
    code: "function* g(n, { [n && String(g(n - 1, {}))]: a, [n && String(g(n - 1, {}))]: b }) {} g(60, {})",
  },
  {
    name: "recursion in class fields",
    code: "let n = 60; class A { a = n-- > 0 && new A(); b = n > 0 && new A(); c = n++ } new A()",
  },
  { name: "a loop in a static block", code: "class A { static { for (;;); } }" },
  { name: "a loop in a default value", code: "((a = (() => { for (;;); })()) => a)()" },
  {
    name: "a loop in an async function",
    code: "const f = async () => { while (true) await null }; await f()",
  },
  {
    name: "callbacks for four billion array elements",
    code: "Array.from({ length: 4e9 }, () => 0)",
  },
  { name: "repeated sorting with an inconsistent order", code: "for (;;) [3, 1, 2].sort(() => 1)" },
  {
    name: "an endless chain of promises",
    code: "const f = () => Promise.resolve().then(f); await f()",
  },
];
