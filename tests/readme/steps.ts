/** A block of a document, or a command in a code span of it. */
export interface Step {
  /** The heading of its section. */
  readonly heading: string;
  readonly line: number;
  /** `sh` for commands, `ts` for a program that the reader saves. */
  readonly language: 'sh' | 'ts';
  readonly text: string;
  /** The file in which the document tells the reader to save the program. */
  readonly file: string;
}

const FENCE = /^```(.*)$/;
const COMMAND = /`((?:npx|npm|node|curl|docker|api) [^`]+)`/g;
const SAVE_AS = /Save this as `([^`]+)`/;

/**
 * Returns what a reader runs or saves, in the order of the document.
 * @throws Error with the line if a block is in another language, or a program has no file
 */
export function stepsIn(markdown: string): Step[] {
  const steps: Step[] = [];
  const lines = markdown.split('\n');
  let heading = '';
  let file = '';
  for (let index = 0; index < lines.length; index++) {
    const [line = '', number] = [lines[index], index + 1];
    heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading;
    file = SAVE_AS.exec(line)?.[1] ?? file;
    const language = FENCE.exec(line)?.[1];
    if (language === undefined) {
      for (const [, text = ''] of line.matchAll(COMMAND))
        steps.push({ heading, line: number, language: 'sh', text, file: '' });
      continue;
    }
    if (language !== 'sh' && language !== 'ts') throw new Error(`line ${number}: a block in "${language}"`);
    if (language === 'ts' && file === '') throw new Error(`line ${number}: no file to save the program in`);
    const end = lines.indexOf('```', index + 1);
    const text = lines.slice(index + 1, end).join('\n');
    steps.push({ heading, line: number, language, text, file: language === 'ts' ? file : '' });
    index = end;
  }
  return steps;
}
