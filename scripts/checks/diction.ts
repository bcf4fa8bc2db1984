/**
 * Measures of plain technical English: words that hide the actor or give data a voice, long
 * sentences, and types that are not named by a noun. Pure: text in, counts out. A floor that a
 * program can check, not a style: a text below it may still be hard to read.
 */

/** Words to avoid. A hyphen beside a word makes another word: `stand-in`, `read-it-all`. */
const MARKERS: readonly string[] = [
  "whoever|whomever|whosever|whatever|nobody|nobody's|anew",
  "thereof|therein|whereof|wherein|hereof",
  "tell|tells|told|telling",
  "lie|lies|lay|lain",
  "stands|stood",
  "ring|rings|rang|rung",
  "hear|hears|heard|hearing",
  "(?:come|comes|came|coming) of",
  "(?:go|goes|went|gone|going) on",
  "(?:let|lets|letting) go",
  "(?:go|goes|went|gone|going) without",
  "(?:is|are|was|were) done with",
  "be (?:it|they)",
  "as (?:it|they) (?:is|are|was|were)(?=[^\\w\\s]|\\s*$)",
  "(?<!\\bif there\\s+)(?:is|are|was|were|be) none",
  "none (?:but|where|whose)",
  "nothing but|no more than that",
  "(?:one|those|they) who",
  "(?:one|ones) that",
  "dear|dearer|dearest",
];

const MARKER = new RegExp(`(?<![\\w-])(?:${MARKERS.join("|")})(?![\\w-]|'s\\b)`, "gi");
const WORD = /[A-Za-z][\w'’-]*/g;

/** Words per sentence, at most. */
export const LONGEST_SENTENCE = 25;

/** One use of such a word. `offset` counts UTF-16 units of the text. */
type Marker = { word: string; offset: number };

/** Every marker of a text, in order. */
export function markersIn(text: string): Marker[] {
  return [...text.matchAll(MARKER)].map((match) => ({
    word: match[0].toLowerCase().replace(/\s+/g, " "),
    offset: match.index,
  }));
}

/** How many words a text has. Numbers and signs are not words. */
export const wordsIn = (text: string): number => text.match(WORD)?.length ?? 0;

/** Sentences of plain prose. A line break ends none; an empty line does. */
export function sentencesOf(prose: string): string[] {
  return prose
    .split(/\n\s*\n|(?<=[.!?][)"”’]?)\s+(?=\S)/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsIn(sentence) > 0);
}

/** Words that end like a participle and are nouns. */
const NOUNS = new Set(["Bed", "Breed", "Deed", "Embed", "Feed", "Need", "Seed", "Shed", "Speed"]);
/** Participles without `-ed` that the code has used as names of types. */
const IRREGULAR = new Set([
  ...["Begun", "Brought", "Built", "Chosen", "Done", "Drawn", "Found", "Given", "Gone", "Got"],
  ...["Heard", "Held", "Hidden", "Kept", "Known", "Left", "Lost", "Made", "Meant", "Met", "Paid"],
  ...["Ran", "Said", "Seen", "Sent", "Shown", "Shut", "Sold", "Spent", "Sunk", "Taken"],
  ...["Thrown", "Told", "Thought", "Written", "Worn"],
]);

/** Whether the name of a type is one bare participle, as `Asked` or `Told` is. */
export function isParticiple(name: string): boolean {
  if (IRREGULAR.has(name)) return true;
  return /^[A-Z][a-z]+ed$/.test(name) && !NOUNS.has(name);
}
