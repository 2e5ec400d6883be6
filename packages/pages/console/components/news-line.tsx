import type { JSX } from 'preact';
import type { LiveList } from '../live/list-news.js';
import { TEXTS } from '../texts.js';
import { Button } from './button.js';

const { live: texts } = TEXTS;

interface NewsLineProps {
  readonly list: LiveList;
  /** Shows the list as it is now. */
  onShow(): void;
  /** Shows the newest records of all pages. */
  onShowNewest(): void;
}

/** What others did since the list was read. Its place keeps its height, so that no row moves under the pointer. */
export function NewsLine({ list, onShow, onShowNewest }: NewsLineProps): JSX.Element {
  const { here, elsewhere, marks } = list;
  const count = (kind: string) => [...marks.values()].filter((mark) => mark.kind === kind).length;
  const news = texts.news({
    changed: count('changed'),
    deleted: count('deleted'),
    added: here.size + elsewhere.size,
  });
  return (
    <div class="news">
      <p role="status">{news}</p>
      {news !== '' && (
        <Button kind="link" onClick={here.size === 0 && elsewhere.size > 0 ? onShowNewest : onShow}>
          {here.size > 0 ? texts.show : elsewhere.size > 0 ? texts.showNewest : texts.refresh}
        </Button>
      )}
    </div>
  );
}
