import { type ComponentChildren, type JSX, toChildArray } from 'preact';

interface FramedTableProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly class?: string;
  /** What stands between the title and the table. */
  readonly above?: ComponentChildren;
  /** What stands there if there are no rows. */
  readonly none?: string;
  /** Rows. */
  readonly children: ComponentChildren;
}

/** A titled table, which scrolls in its frame if it is wide. */
export function FramedTable({ title, columns, class: name, above, none, children }: FramedTableProps): JSX.Element {
  if (none !== undefined && toChildArray(children).length === 0)
    return (
      <section>
        <h2>{title}</h2>
        <p>{none}</p>
      </section>
    );
  return (
    <>
      <h2>{title}</h2>
      {above}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table in it */}
      <section class="table-frame" aria-label={title} tabIndex={0}>
        <table class={`records ${name ?? ''}`}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </section>
    </>
  );
}
