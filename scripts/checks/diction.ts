/**
 * Measures of plain technical English: words that hide the actor or describe data like a person,
 * long sentences, and types that are not named by a noun. Pure. A program can check only these
 * measures; a text that passes may still be hard to read.
 */

/**
 * Words to avoid. A word next to a hyphen is not found, because it is part of another word
 * (`stand-in`).
 */
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

/** Most words of a sentence. */
export const MAX_SENTENCE_WORDS = 25;

/** One use of a word to avoid. `offset` is its position in the text, in UTF-16 code units. */
type Marker = { word: string; offset: number };

/** Finds every use of a word to avoid, in the order of the text. */
export function markersIn(text: string): Marker[] {
  return [...text.matchAll(MARKER)].map((match) => ({
    word: match[0].toLowerCase().replace(/\s+/g, " "),
    offset: match.index,
  }));
}

/** The number of words of a text. Numbers and signs are not words. */
export const wordsIn = (text: string): number => text.match(WORD)?.length ?? 0;

/** Divides plain prose into sentences. An empty line ends a sentence, a line break does not. */
export function sentencesOf(prose: string): string[] {
  return prose
    .split(/\n\s*\n|(?<=[.!?][)"”’]?)\s+(?=\S)/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsIn(sentence) > 0);
}

/** Nouns that end like a participle. */
const NOUNS = new Set(["Bed", "Breed", "Deed", "Embed", "Feed", "Need", "Seed", "Shed", "Speed"]);
/** Participles that do not end in `-ed`. */
const IRREGULAR_PARTICIPLES = new Set([
  ...["Begun", "Brought", "Built", "Chosen", "Done", "Drawn", "Found", "Given", "Gone", "Got"],
  ...["Heard", "Held", "Hidden", "Kept", "Known", "Left", "Lost", "Made", "Meant", "Met", "Paid"],
  ...["Ran", "Said", "Seen", "Sent", "Shown", "Shut", "Sold", "Spent", "Sunk", "Taken"],
  ...["Thrown", "Told", "Thought", "Written", "Worn"],
]);

/** Whether the name of a type is only a participle, such as `Asked`. */
export function isParticiple(name: string): boolean {
  if (IRREGULAR_PARTICIPLES.has(name)) return true;
  return /^[A-Z][a-z]+ed$/.test(name) && !NOUNS.has(name);
}
