import type { ComponentChildren, JSX } from 'preact';

interface FramedTableProps {
  readonly title: string;
  readonly columns: readonly string[];
  readonly class: string;
  /** What stands between the title and the table. */
  readonly above?: ComponentChildren;
  /** Rows. */
  readonly children: ComponentChildren;
}

/** A titled table, which scrolls in its frame if it is wide. */
export function FramedTable({ title, columns, class: name, above, children }: FramedTableProps): JSX.Element {
  return (
    <>
      <h2>{title}</h2>
      {above}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table in it */}
      <section class="table-frame" aria-label={title} tabIndex={0}>
        <table class={`records ${name}`}>
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
