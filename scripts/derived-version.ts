import { createHash } from 'node:crypto';
import type { RecordTable } from '#src/application/ports/list-query.js';
import { recordWords } from '#src/application/search/tokenizer.js';
import { TABLES } from '#src/composition/tables.js';

/** The path of the file with the version of derived data, from the root of the project. */
export const DERIVED_DATA = 'src/application/ports/derived-data.ts';

/** Words that meet each rule of the tokenizer. */
const TEXTS = [
  ...['Green LAMP x2 42', 'Café ĐÈN Straße ﬁne ΟΔΟΣ', 'שָׁלוֹם سَلـام', 'हिन्दी', '東京タワー手机', 'เครื่อง ພາສາ ភាសា မြန်'],
  ...['a\u00adb c\u200bd e\u2060f', '한국', "O'Neill’s dot.ted-and_joined"],
];

/**
 * Returns the text of the file with the fingerprint of the tokenizer and of what is derived of each table. The version is
 * 1 higher if one of them is another one than in the file. A new table has no records, so it needs no higher version.
 */
export function withVersion(file: string, tables: readonly RecordTable[] = TABLES): string {
  return file.replace(
    /(DERIVED_VERSION = )([\d_]+);\n((?:\/\/ \w+: \w+\n)*)/,
    (_, start: string, digits: string, lines: string) => {
      const known = new Map([...lines.matchAll(/(\w+): (\w+)/g)].map(([, name, print]) => [name, print]));
      const prints = fingerprints(tables);
      const isHigher = prints.some(([name, print]) => (known.get(name) ?? print) !== print);
      const version = Number(digits.replaceAll('_', '')) + (isHigher ? 1 : 0);
      const written = version.toLocaleString('en-GB').replaceAll(',', '_');
      return `${start}${written};\n${prints.map(([name, print]) => `// ${name}: ${print}\n`).join('')}`;
    },
  );
}

function fingerprints(tables: readonly RecordTable[]): [name: string, fingerprint: string][] {
  const ofTables = tables.map(({ name, fields, searched }): [string, unknown] => {
    const stored = Object.entries(fields).map(([field, { type, isList, unique, ignoresCase, paddedTo }]) => {
      return [field, type, isList, unique, ignoresCase, paddedTo];
    });
    return [name, [stored, searched]];
  });
  const words = TEXTS.map((text) => recordWords({ searched: ['text'] }, { text }));
  return [['tokenizer', words] as const, ...ofTables].map(([name, value]) => {
    const hash = createHash('sha256').update(JSON.stringify(value)).digest('hex');
    return [name, hash.slice(0, 8)];
  });
}
