import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useConsole } from '../context.js';

interface PicturesProps {
  /** Objects with the address of a picture in `url`, and perhaps what it shows in `alt`. */
  readonly value: readonly unknown[];
  /** Whether to show all, and not only the first. */
  readonly isWhole: boolean;
}

/** The pictures of a record. */
export function Pictures({ value, isWhole }: PicturesProps): JSX.Element {
  const pictures = value.map((one) => Object(one) as { readonly url?: unknown; readonly alt?: unknown });
  return (
    <ul class={isWhole ? 'pictures' : 'thumbnail'}>
      {(isWhole ? pictures : pictures.slice(0, 1)).map(({ url, alt }) => (
        <li key={String(url)}>
          <Picture url={String(url)} alt={String(alt ?? '')} />
        </li>
      ))}
    </ul>
  );
}

/** A picture, or its address if it may not or cannot be loaded. No other site learns from which page it is loaded. */
function Picture({ url, alt }: { readonly url: string; readonly alt: string }): JSX.Element {
  const { hasPictures } = useConsole();
  const [hasFailed, setFailed] = useState(false);
  // The policy of the page allows https alone.
  if (!hasPictures || hasFailed || !/^https:/i.test(url)) return <WebAddress url={url} />;
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
