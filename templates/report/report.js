// $generated_comment
// The pages of the report.  Everything that is shown is in the part of the address after '#', so that links,
// bookmarks and the button "back" work:  #q=add&key=CUDA&op=add.Tensor&view=matrix
(function () {
  'use strict';

  var data = window.opgenOperators;
  var operators = data.operators;
  var classes = {k: 'kernel', g: 'generated', c: 'composite', f: 'fallback', '-': 'missing'};
  var symbols = {k: '\u25cf', g: '\u25cb', c: '\u25c7', f: '\u00b7', '-': '\u2013'};
  var filters = ['q', 'form', 'key', 'missing', 'tag'];
  var PAGE = 150;

  var results = document.getElementById('results');
  var details = document.getElementById('details');
  var known = {};

  function escaped(text) {
    return String(text).replace(/[&<>"]/g, function (c) {
      return {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'}[c];
    });
  }

  function byId(id) { return document.getElementById(id); }

  // ------------------------------------------------------------------ the address

  function readState() {
    return new URLSearchParams(location.hash.slice(1));
  }

  // The address with some values changed; an empty value goes.
  function address(changes) {
    var state = readState();
    Object.keys(changes).forEach(function (name) {
      if (changes[name]) state.set(name, changes[name]); else state.delete(name);
    });
    return '#' + state.toString();
  }

  // ------------------------------------------------------------------ search and filters

  function fill(id, values, first) {
    byId(id).innerHTML = ['<option value="">' + first + '</option>'].concat(values.map(function (value) {
      return '<option>' + escaped(value) + '</option>';
    })).join('');
  }

  function distinct(read) {
    var found = {};
    operators.forEach(function (operator) { read(operator).forEach(function (value) { found[value] = true; }); });
    return Object.keys(found).sort();
  }

  function hasKernel(operator, index) {
    return operator.forms.some(function (form) { return 'kg'.indexOf(form[2][index]) >= 0; });
  }

  function matching(state) {
    var words = (state.get('q') || '').toLowerCase().split(/\s+/).filter(Boolean);
    var key = data.keys.indexOf(state.get('key') || '');
    var form = state.get('form'), missing = state.get('missing'), tag = state.get('tag');
    var absent = data.keys.indexOf((missing || '').replace(/^kernel for /, ''));
    var found = operators.filter(function (operator) {
      return words.every(function (word) { return operator.text.indexOf(word) >= 0; }) &&
        (key < 0 || hasKernel(operator, key)) &&
        (!form || operator.kinds.indexOf(form) >= 0) &&
        (!tag || operator.tags.indexOf(tag) >= 0) &&
        (!missing || operator.missing.indexOf(missing) >= 0 ||
          (absent >= 0 && operator.forms.some(function (each) { return each[2][absent] === '-'; })));
    });
    // Names that begin with the word come first.
    if (words.length === 1) {
      var begins = function (operator) { return operator.base.indexOf(words[0]) === 0 ? 0 : operator.text.indexOf(words[0]) < operator.name.length ? 1 : 2; };
      found = found.map(function (operator, index) { return [begins(operator), index, operator]; })
        .sort(function (a, b) { return a[0] - b[0] || a[1] - b[1]; })
        .map(function (each) { return each[2]; });
    }
    return found;
  }

  // ------------------------------------------------------------------ the list and the matrix

  function renderRow(operator) {
    var gaps = operator.missing.map(function (name) { return '<span class="tag gap">no ' + escaped(name) + '</span>'; });
    if (operator.gradient) gaps.unshift('<span class="tag">differentiable</span>');
    var here = readState().get('op') === operator.file ? ' aria-current="page"' : '';
    return '<a class="row"' + here + ' data-op="' + escaped(operator.file) + '" href="' +
      escaped(address({op: operator.file, view: ''})) + '"><b>' + escaped(operator.name) + '</b>' + gaps.join('') +
      '<span class="schema">' + escaped(operator.schema) + '</span></a>';
  }

  function renderCell(state, key) {
    var text = key + ': ' + data.states[state];
    return '<td class="' + classes[state] + '" title="' + escaped(text) + '"><span aria-hidden="true">' +
      symbols[state] + '</span></td>';
  }

  function renderMatrixRows(operator) {
    return operator.forms.map(function (form, index) {
      var cells = data.keys.map(function (key, column) { return renderCell(form[2][column], key); }).join('');
      return '<tr' + (index ? '' : ' class="first"') + '><th scope="row"><a class="mono" data-op="' +
        escaped(operator.file) + '" href="' + escaped(address({op: operator.file, view: ''})) + '">' +
        escaped(form[0]) + '</a></th>' + cells + '</tr>';
    }).join('');
  }

  function legend() {
    return '<div class="legend">' + Object.keys(data.states).map(function (state) {
      return '<span><span class="' + classes[state] + '">' + symbols[state] + '</span> ' + escaped(data.states[state]) + '</span>';
    }).join('') + '</div>';
  }

  // Rows are added as they are needed: torch has thousands of operators.
  function show(found, isMatrix) {
    var current = found.findIndex(function (operator) { return operator.file === readState().get('op'); });
    var shown = 0, body = results, observer = null;
    results.innerHTML = '';
    if (!found.length) {
      results.innerHTML = '<p class="nothing">No operator matches. <button type="button" id="clear">Clear the filters</button></p>';
      byId('clear').onclick = function () { byId('filters').reset(); };
      return;
    }
    if (isMatrix) {
      var head = data.keys.map(function (key) { return '<th scope="col"><span>' + escaped(key) + '</span></th>'; });
      results.innerHTML = legend() + '<table class="matrix"><thead><tr><th scope="col">form</th>' + head.join('') +
        '</tr></thead><tbody></tbody></table>';
      body = results.querySelector('tbody');
    }
    var button = document.createElement('button');
    button.className = 'further';
    button.type = 'button';
    results.appendChild(button);
    function more() {
      var next = found.slice(shown, shown + PAGE);
      var html = next.map(isMatrix ? renderMatrixRows : renderRow).join('');
      if (isMatrix) body.insertAdjacentHTML('beforeend', html); else button.insertAdjacentHTML('beforebegin', html);
      shown += next.length;
      button.hidden = shown >= found.length;
      button.textContent = 'Show ' + (found.length - shown).toLocaleString('en') + ' more';
      if (button.hidden && observer) observer.disconnect();
    }
    button.onclick = more;
    do more(); while (shown <= current);
    var row = results.querySelector('a[aria-current]');
    if (row && current >= 0) row.scrollIntoView({block: 'nearest'});
    observer = new IntersectionObserver(function (entries) {
      if (entries.some(function (entry) { return entry.isIntersecting; })) more();
    }, {rootMargin: '600px'});
    observer.observe(button);
  }

  // ------------------------------------------------------------------ one operator

  function table(head, rows) {
    return '<div class="scroll"><table><thead><tr>' + head.map(function (cell) { return '<th scope="col">' + cell + '</th>'; }).join('') +
      '</tr></thead><tbody>' + rows.map(function (row) { return '<tr>' + row.join('') + '</tr>'; }).join('') + '</tbody></table></div>';
  }

  function mono(text) { return '<td class="mono">' + escaped(text) + '</td>'; }

  function section(title, html) { return html ? '<h3>' + title + '</h3>' + html : ''; }

  function listing(lines) { return lines.length ? '<pre>' + lines.map(escaped).join('\n') + '</pre>' : ''; }

  // The link from a place such as RegisterCPU.cpp:41 to the part of the generated code that it is about.
  function placeLink(place, one, form) {
    var path = place.replace(/:\d+$/, '');
    var has = one.code.some(function (part) { return part[0] === path; });
    if (!has) return '<span class="mono">' + escaped(place) + '</span>';
    return '<a class="mono" href="' + escaped(address({file: path})) + '" data-file="' + escaped(path) +
      '" data-form="' + escaped(form) + '">' + escaped(place) + '</a>';
  }

  function stateOf(cell) {
    if (cell.place) return cell.kernel === 'generated' ? 'g' : 'k';
    if (cell.reason.indexOf('no kernel') === 0) return '-';
    return /serves it$/.test(cell.reason) ? 'c' : 'f';
  }

  function renderTable(one) {
    var forms = one.forms.map(function (form) { return form.name; });
    var keys = one.table.map(function (cell) { return cell.key; }).filter(function (key, index, all) { return all.indexOf(key) === index; });
    var cells = {};
    one.table.forEach(function (cell) { cells[cell.key + ' ' + cell.form] = cell; });
    return table(['key'].concat(forms.map(function (form) { return '<span class="mono">' + escaped(form) + '</span>'; })), keys.map(function (key) {
      return ['<th scope="row" class="mono">' + escaped(key) + '</th>'].concat(forms.map(function (form) {
        var cell = cells[key + ' ' + form], state = stateOf(cell);
        var text = cell.place ? '<span class="mono">' + escaped(cell.kernel) + '</span><br>' + placeLink(cell.place, one, form) : escaped(cell.reason);
        return '<td><span class="' + classes[state] + '" title="' + escaped(data.states[state]) + '">' + symbols[state] + '</span> ' + text + '</td>';
      }));
    }));
  }

  function renderGaps(one) {
    var gaps = one.services.filter(function (service) { return service.missing; });
    if (!gaps.length) return '';
    return '<div class="gaps"><b>Missing</b><ul>' + gaps.map(function (gap) {
      return '<li><b>' + escaped(gap.name) + '</b> of <span class="mono">' + escaped(gap.form) + '</span>: ' + escaped(gap.missing) + '</li>';
    }).join('') + '</ul></div>';
  }

  function entries(list) {
    return list.map(function (entry) {
      return '<div class="place mono">' + escaped(entry.place) + '</div><pre>' + escaped(entry.text) + '</pre>';
    }).join('');
  }

  function renderCode(one) {
    var files = [], parts = {};
    one.code.forEach(function (part) {
      if (!parts[part[0]]) { files.push(part[0]); parts[part[0]] = []; }
      parts[part[0]].push(part);
    });
    if (!files.length) return '<p class="quiet">No generated code is about this operator alone.</p>';
    return files.map(function (file) {
      return '<details class="file" data-path="' + escaped(file) + '"><summary>' + escaped(file) + '</summary>' +
        parts[file].map(function (part) {
          return '<div class="part"><div class="place mono">line ' + part[1] + '</div><pre>' + escaped(part[2]) + '</pre></div>';
        }).join('') + '</details>';
    }).join('');
  }

  function renderDetails(operator, one) {
    var tags = operator.tags.map(function (tag) { return '<a class="tag" href="' + escaped(address({tag: tag, op: ''})) + '">' + escaped(tag) + '</a>'; });
    return '<a class="back" href="' + escaped(address({op: '', file: ''})) + '">\u2190 all operators</a>' +
      '<h2 tabindex="-1">' + escaped(operator.name) + '</h2>' + (tags.length ? '<p>' + tags.join('') + '</p>' : '') +
      (one.doc ? '<p class="doc">' + escaped(one.doc) + '</p>' : '') + renderGaps(one) +
      section('Forms', table(['form', 'kind', 'comes from', 'place'], one.forms.map(function (form) {
        return [mono(form.name), '<td>' + escaped(form.kind) + '</td>', '<td>' + escaped(form.origin) + '</td>', mono(form.place)];
      }))) +
      '<div class="side"><div>' + section('Definition', entries(one.definitions)) +
      section('Gradients', entries(one.derivatives) || '<p class="quiet">derivatives.yaml has no formula for it.</p>') +
      '</div><div>' + section('Generated code', renderCode(one)) + '</div></div>' +
      section('Kernels by form and dispatch key', renderTable(one)) +
      section('Kernels to write', listing(one.kernels_to_write)) + section('C++', listing(one.cpp)) +
      section('Python', listing(one.python)) + section('Dispatcher', listing(one.dispatcher)) +
      section('What torch does with it', table(['what', 'form', 'kernel'], one.services.map(function (service) {
        return ['<td>' + escaped(service.name) + '</td>', mono(service.form),
          '<td>' + (service.place ? placeLink(service.place, one, service.form) : '') + (service.place && service.missing ? ': ' : '') +
          escaped(service.missing || (service.place ? '' : 'not needed')) + '</td>'];
      })));
  }

  function openFile(path) {
    Array.prototype.forEach.call(details.querySelectorAll('details.file'), function (each) {
      each.classList.toggle('target', each.dataset.path === path);
      if (each.dataset.path !== path) return;
      each.open = true;
      each.scrollIntoView({block: 'start'});
    });
  }

  var opened = null;

  function openOperator(state) {
    var file = state.get('op');
    var operator = operators.filter(function (each) { return each.file === file; })[0];
    document.title = (operator ? operator.name + ' \u2013 ' : '') + 'Operators of ' + data.title;
    if (!operator) {
      opened = null;
      details.innerHTML = file ? '<p class="nothing">There is no operator \u201c' + escaped(file) + '\u201d.</p>' : '';
      return;
    }
    if (opened === file) { openFile(state.get('file')); return; }
    opened = file;
    if (known[file]) { showOperator(operator, state); return; }
    details.innerHTML = '<p class="nothing">Reading\u2026</p>';
    var script = document.createElement('script');
    script.src = 'operators/' + encodeURIComponent(file) + '.js';
    script.onload = function () { if (opened === file) showOperator(operator, state); };
    script.onerror = function () {
      details.innerHTML = '<p class="nothing">operators/' + escaped(file) + '.js can\u2019t be read: copy the whole folder of the report.</p>';
    };
    document.head.appendChild(script);
  }

  function showOperator(operator, state) {
    details.innerHTML = renderDetails(operator, known[operator.file]);
    details.scrollTop = 0;
    if (matchMedia('(max-width: 48rem)').matches) window.scrollTo(0, 0);
    if (state.get('file')) openFile(state.get('file'));
    else {
      var first = details.querySelector('details.file[data-path*="RegisterCPU"]') || details.querySelector('details.file');
      if (first) first.open = true;
    }
    if (takesFocus) details.querySelector('h2').focus({preventScroll: true});
    takesFocus = false;
  }

  // ------------------------------------------------------------------ what the user does

  var takesFocus = false;
  var drawn = null;

  function draw() {
    var state = readState();
    var isMatrix = state.get('view') === 'matrix';
    document.body.classList.toggle('matrix', isMatrix);
    document.body.classList.toggle('open', Boolean(state.get('op')));
    filters.forEach(function (name) { if (document.activeElement !== byId(name) || !byId(name).value) byId(name).value = state.get(name) || ''; });
    byId('show-list').href = address({view: ''});
    byId('show-matrix').href = address({view: 'matrix'});
    [['show-list', !isMatrix], ['show-matrix', isMatrix]].forEach(function (each) {
      if (each[1]) byId(each[0]).setAttribute('aria-current', 'page'); else byId(each[0]).removeAttribute('aria-current');
    });
    var asked = filters.map(function (name) { return state.get(name); }).concat(isMatrix).join('\n');
    if (asked !== drawn) {
      drawn = asked;
      var found = matching(state);
      results.scrollTop = 0;
      show(found, isMatrix);
      byId('count').textContent = found.length === operators.length ? found.length.toLocaleString('en') + ' operators'
        : found.length.toLocaleString('en') + ' of ' + operators.length.toLocaleString('en') + ' operators';
    }
    Array.prototype.forEach.call(results.querySelectorAll('a[data-op]'), function (row) {
      row.href = address({op: row.dataset.op, view: '', file: ''});
      if (row.dataset.op === state.get('op')) row.setAttribute('aria-current', 'page'); else row.removeAttribute('aria-current');
    });
    openOperator(state);
  }

  function filtersChanged() {
    var changes = {};
    filters.forEach(function (name) { changes[name] = byId(name).value; });
    history.replaceState(null, '', address(changes));
    draw();
  }

  function moveFocus(step) {
    var rows = Array.prototype.slice.call(results.querySelectorAll('a[data-op]'));
    var at = rows.indexOf(document.activeElement);
    var next = rows[at < 0 ? 0 : at + step];
    if (next) next.focus(); else if (step < 0) byId('q').focus();
  }

  function onKey(event) {
    var target = event.target;
    var types = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/' && !types) {
      byId('q').focus();
      byId('q').select();
    } else if (event.key === 'ArrowDown' && (target.id === 'q' || results.contains(target))) {
      moveFocus(1);
    } else if (event.key === 'ArrowUp' && results.contains(target)) {
      moveFocus(-1);
    } else if (event.key === 'Escape' && readState().get('op')) {
      var file = readState().get('op');
      location.hash = address({op: '', file: ''});
      draw();
      var row = Array.prototype.filter.call(results.querySelectorAll('a[data-op]'), function (each) { return each.dataset.op === file; })[0];
      (row || byId('q')).focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  window.opgenReport = {details: function (file, one) { known[file] = one; }};

  operators.forEach(function (operator) {
    operator.kinds = operator.forms.map(function (form) { return form[1]; }).concat(operator.origins);
    operator.base = operator.name.replace(/^.*::/, '').toLowerCase();
    operator.text = [operator.name, operator.schema].concat(operator.forms.map(function (form) { return form[0]; }), operator.tags).join(' ').toLowerCase();
  });
  fill('form', distinct(function (operator) { return operator.kinds; }), 'any');
  fill('key', data.keys, 'any key');
  fill('missing', distinct(function (operator) { return operator.missing; }).concat(data.keys.filter(function (key, column) {
    return operators.some(function (operator) { return operator.forms.some(function (form) { return form[2][column] === '-'; }); });
  }).map(function (key) { return 'kernel for ' + key; })), '\u2014');
  fill('tag', distinct(function (operator) { return operator.tags; }), 'any');

  byId('filters').addEventListener('input', filtersChanged);
  byId('filters').addEventListener('change', filtersChanged);
  byId('filters').addEventListener('submit', function (event) { event.preventDefault(); });
  byId('filters').addEventListener('reset', function () { setTimeout(function () { document.activeElement.blur(); filtersChanged(); }); });
  byId('skip').addEventListener('click', function (event) { event.preventDefault(); results.focus(); });
  results.addEventListener('click', function (event) { takesFocus = Boolean(event.target.closest('a[data-op]')); });
  details.addEventListener('click', function (event) {
    var link = event.target.closest('a[data-file]');
    if (link && readState().get('file') === link.dataset.file) openFile(link.dataset.file);
  });
  document.addEventListener('keydown', onKey);
  window.addEventListener('hashchange', draw);
  byId('more').open = matchMedia('(min-width: 48.01rem)').matches;
  draw();
}());
