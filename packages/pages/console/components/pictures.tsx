import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useConsole } from '../context.js';
import { TEXTS } from '../texts.js';
import { useSettled } from '../use-settled.js';

interface PicturesProps {
  /** Objects with the address of a picture in `url`, and perhaps what it shows in `alt`. */
  readonly value: readonly unknown[];
}

/** The pictures of a record. */
export function Pictures({ value }: PicturesProps): JSX.Element {
  return (
    <ul class="pictures">
      {value.map(pictureOf).map(({ url, alt }) => (
        <li key={url}>
          <Picture url={url} alt={alt} instead={<WebAddress url={url} />} />
        </li>
      ))}
    </ul>
  );
}

interface ThumbnailProps {
  /** The pictures of a record, of which the first is shown. */
  readonly value: unknown;
  /** What the record is called. */
  readonly name: string;
}

/** The first picture of a record, or a tile with the first letter of its name. The name stands beside it. */
export function Thumbnail({ value, name }: ThumbnailProps): JSX.Element {
  const [first] = Array.isArray(value) ? value.map(pictureOf) : [];
  const [letter = ''] = name.match(/[\p{L}\p{N}]/u) ?? [];
  const tile = (
    <span class="tile" aria-hidden="true">
      {letter.toUpperCase()}
    </span>
  );
  return first ? <Picture key={first.url} url={first.url} alt="" instead={tile} /> : tile;
}

/** The picture at a URL while a person types it. The field beside it says what it shows. */
export function Preview({ url }: { readonly url: string }): JSX.Element {
  const settled = useSettled(url);
  const tile = <span class="tile">{settled === '' ? '' : TEXTS.form.noPicture}</span>;
  return <div class="preview">{<Picture key={settled} url={settled} alt="" instead={tile} />}</div>;
}

function pictureOf(value: unknown): { readonly url: string; readonly alt: string } {
  const { url, alt } = Object(value) as { readonly url?: unknown; readonly alt?: unknown };
  return { url: String(url), alt: String(alt ?? '') };
}

interface PictureProps {
  readonly url: string;
  readonly alt: string;
  /** Shown if the picture may not or cannot be loaded. */
  readonly instead: JSX.Element;
}

/** A picture. No other site learns from which page it is loaded. */
function Picture({ url, alt, instead }: PictureProps): JSX.Element {
  const { hasPictures } = useConsole();
  const [hasFailed, setFailed] = useState(false);
  // The policy of the page allows https alone.
  if (!hasPictures || hasFailed || !/^https:/i.test(url)) return instead;
  return <img src={url} alt={alt} loading="lazy" referrerpolicy="no-referrer" onError={() => setFailed(true)} />;
}

/** A link to another site, which does not learn from where. What is no such address stays a text. */
export function WebAddress({ url }: { readonly url: string }): JSX.Element {
  const text = <span class="address">{url}</span>;
  if (!/^https?:/i.test(url)) return text;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {text}
    </a>
  );
}
