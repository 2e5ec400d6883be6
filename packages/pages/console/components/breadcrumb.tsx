import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Page } from '#packages/client/index.js';
import { useConsole } from '../context.js';
import { keepPlace, type Place, placeIn } from '../places.js';
import { hashOf, hashOfPage } from '../router.js';
import { TEXTS } from '../texts.js';
import type { CatalogueRecord, Resource } from '../types.js';
import { useLoad } from '../use-load.js';

interface BreadcrumbProps {
  readonly resource: Resource;
  /** The record that the page shows. */
  readonly id?: number;
}

/** The way back to the list as it was, and to the records before and behind this one in it. */
export function Breadcrumb({ resource, id = 0 }: BreadcrumbProps): JSX.Element {
  const place = placeIn(resource.name);
  const hasNeighbours = place.ids.includes(id);
  useEffect(() => {
    if (hasNeighbours) keepPlace(resource.name, { id });
  }, [id]);
  return (
    <nav class="breadcrumb" aria-label={TEXTS.place.title}>
      <a href={place.hash}>{resource.title}</a>
      {hasNeighbours && (
        <span key={id}>
          <Neighbour {...{ resource, place, id }} step={-1} />
          <Neighbour {...{ resource, place, id }} step={1} />
        </span>
      )}
    </nav>
  );
}

interface NeighbourProps {
  readonly resource: Resource;
  readonly place: Place;
  readonly id: number;
  readonly step: -1 | 1;
}

/** A link to the record before or behind another in its list; at the end of a page to one of the page beside it. */
function Neighbour({ resource, place, id, step }: NeighbourProps): JSX.Element {
  const { api } = useConsole();
  const label = step < 0 ? TEXTS.place.previous : TEXTS.place.next;
  const at = place.ids.indexOf(id) + step;
  const here = place.ids[at];
  const reference = here === undefined ? (step < 0 ? place.prev : place.next) : undefined;
  const { value: beside } = useLoad(reference ?? '', async (signal) => {
    if (reference === undefined) return undefined;
    const page = await api.collection(resource).page(reference, { signal });
    return placeOn(place, reference, page);
  });
  const target = here ?? beside?.ids.at(step < 0 ? -1 : 0);
  if (target === undefined) return <span class="button off">{label}</span>;
  const href = hashOf({ page: 'record', resource: resource.name, id: target });
  const go = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (beside) keepPlace(resource.name, beside);
    // Going back leads to the list, however many records were looked at.
    location.replace(href);
  };
  return (
    <a class="button" href={href} onClick={go}>
      {label}
    </a>
  );
}

/** The place of a page that a link of the service leads to. */
function placeOn({ hash }: Place, reference: string, page: Page<CatalogueRecord>): Place {
  const ids = page.records.map(({ id }) => id);
  return { hash: hashOfPage(hash, reference), ids, prev: page.prev, next: page.next, scrolled: [0, 0] };
}
