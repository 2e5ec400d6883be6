import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Breadcrumb } from '../components/breadcrumb.js';
import { Button } from '../components/button.js';
import { ErrorNotice } from '../components/notice.js';
import { useConsole } from '../context.js';
import { facetRequests } from '../facets/facet-query.js';
import { PrefixBox } from '../facets/prefix-box.js';
import { childrenOf, pathOf, type TreeNode } from '../facets/tag-tree.js';
import { useValues } from '../facets/use-values.js';
import { labelOf, numberText } from '../formats.js';
import { ALL_RECORDS } from '../list-query.js';
import { hashOfList } from '../router.js';
import { TEXTS } from '../texts.js';
import type { Resource } from '../types.js';
import { useLoad } from '../use-load.js';

const { tree: texts, facets: facetTexts } = TEXTS;

/** The most tags that one request reads. */
const PAGE = 100;

interface TreePageProps {
  readonly resource: Resource;
  /** A list of texts in which `/` makes paths. */
  readonly field: string;
}

/** The tags of all records as a tree of paths, each with the number of its records. */
export function TreePage({ resource, field }: TreePageProps): JSX.Element {
  const [prefix, setPrefix] = useState('');
  return (
    <>
      <Breadcrumb resource={resource} />
      <div class="heading">
        <h1>{texts.title(labelOf(field))}</h1>
      </div>
      <div class="toolbar">
        <search>
          <PrefixBox label={labelOf(field)} onSettle={setPrefix} />
        </search>
      </div>
      <Level {...{ resource, field, prefix }} />
    </>
  );
}

interface LevelProps extends TreePageProps {
  readonly prefix: string;
}

/** What is directly below a path. The tags that most records have are read first. */
function Level({ resource, field, prefix }: LevelProps): JSX.Element {
  const [first = ''] = facetRequests(resource, ALL_RECORDS, [{ field, key: '' }], { limit: PAGE, prefix });
  const { value, error, isLoading, reload, readMore } = useValues(resource, first);
  const { counts, hasMore } = value ?? { counts: [], hasMore: false };
  const nodes = childrenOf(pathOf(prefix), counts, !hasMore);
  return (
    <>
      {error !== undefined && <ErrorNotice error={error} title={facetTexts.failed} onRetry={reload} />}
      {nodes.length > 0 && (
        <ul class="tree" aria-busy={isLoading}>
          {nodes.map((node) => (
            <Node key={node.path + node.isPath} {...{ resource, field, node }} />
          ))}
        </ul>
      )}
      {!value && isLoading && <p class="note">{TEXTS.list.loading}</p>}
      {value && nodes.length === 0 && <p class="note">{prefix === '' ? facetTexts.none : facetTexts.noneWithPrefix}</p>}
      {hasMore && (
        <p class="note">
          {readMore ? texts.read(numberText(counts.length)) : facetTexts.tooMany(numberText(counts.length))}{' '}
          {readMore && (
            <Button kind="link" busy={isLoading} onClick={readMore}>
              {texts.more}
            </Button>
          )}
        </p>
      )}
    </>
  );
}

interface NodeProps extends TreePageProps {
  readonly node: TreeNode;
}

function Node({ resource, field, node }: NodeProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const { label, path, isPath, count, isExact } = node;
  const query = { [isPath ? `${field}.prefix` : field]: path };
  return (
    <li>
      <div class="tree-node">
        {isPath ? (
          <Button kind="link" aria-expanded={isOpen} aria-label={texts.below(path)} onClick={() => setOpen(!isOpen)}>
            <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
          </Button>
        ) : (
          <span />
        )}
        <a href={hashOfList(resource.name, query)}>{label}</a>
        {isOpen && !isExact ? (
          <ExactCount {...{ resource, query, atLeast: count }} />
        ) : (
          <span class="count">{isExact ? numberText(count) : texts.atLeast(numberText(count))}</span>
        )}
      </div>
      {isOpen && <Level {...{ resource, field, prefix: path }} />}
    </li>
  );
}

interface ExactCountProps {
  readonly resource: Resource;
  readonly query: Readonly<Record<string, string>>;
  readonly atLeast: number;
}

/** The number of the records below a path, each counted once. It costs a request, so only open paths have it. */
function ExactCount({ resource, query, atLeast }: ExactCountProps): JSX.Element {
  const { api } = useConsole();
  const request = `${resource.path}?${new URLSearchParams({ ...query, fields: 'id', limit: '1' })}`;
  const { value } = useLoad(request, (signal) => api.collection(resource).page(request, { count: true, signal }));
  const { total } = value ?? {};
  return <span class="count">{total === undefined ? texts.atLeast(numberText(atLeast)) : numberText(total)}</span>;
}
