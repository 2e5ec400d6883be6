/** A piece of SQL and the values for its question marks: what a client sent is never part of the text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
}

export function sql(text: string, ...values: unknown[]): Sql {
  return { text, values };
}

export function allOf(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return sql('TRUE');
  return sql(
    conditions.map(({ text }) => `(${text})`).join(' AND '),
    ...conditions.flatMap(({ values }) => values),
  );
}
